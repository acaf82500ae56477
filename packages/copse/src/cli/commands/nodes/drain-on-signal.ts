/**
 * SIGTERM, as `systemctl stop` and the stop of a container send it: the first drains the node and ends the orchestrator when
 * its agents have ended, at the latest at the deadline; the second hands running work over now. Ctrl+C is SIGINT, which leaves
 * the agents running.
 */

import { drainNode } from '../../../machines/act/nodes.ts';
import type { Orchestrator } from '../../../orchestrator/orchestrate.ts';
import { spanText } from '../../../kernel/time.ts';
import type { RunContext } from '../../../queue/context.ts';

interface SignalDrain {
  readonly state: () => 'no' | 'drained' | 'now';
  close(): void;
}

export function drainOnSignal(
  context: RunContext,
  orchestrator: Orchestrator,
  {
    stop,
    tell,
    isAway,
  }: {
    readonly stop: AbortController;
    readonly tell: (text: string) => void;
    /** Without the board no work can be handed over. */
    readonly isAway: () => boolean;
  },
): SignalDrain {
  let signals = 0;
  const closed = new AbortController();
  const recordDrain = async (withinMs: number): Promise<void> => {
    while (!closed.signal.aborted) {
      try {
        await drainNode(context, context.node, { withinMs, by: 'signal' });
        return;
      } catch {
        await context.clock.sleep(RECORD_AGAIN_MS, closed.signal);
      }
    }
  };
  const onTerm = () => {
    signals += 1;
    // A third one: the second could not be obeyed.
    if (signals > 2 || (signals === 2 && isAway())) return stop.abort();
    const withinMs = signals === 1 ? context.policy.nodes.drainMs : 0;
    orchestrator.drain(withinMs);
    tell(
      signals === 1
        ? `SIGTERM: no new work starts here; running agents have ${spanText(withinMs)}, then their work is handed over. A second SIGTERM hands it over now.`
        : 'SIGTERM again: running work is handed over now.',
    );
    // So that the other nodes know. Without the board, this orchestrator drains all the same.
    void recordDrain(withinMs);
  };
  process.on('SIGTERM', onTerm);
  return {
    state: () => (signals === 0 ? 'no' : signals === 1 ? 'drained' : 'now'),
    close() {
      closed.abort();
      process.off('SIGTERM', onTerm);
    },
  };
}

const RECORD_AGAIN_MS = 1_000;
