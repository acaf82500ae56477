/**
 * SIGTERM, as `systemctl stop` and the stop of a container send it: the first drains the node and ends the orchestrator when
 * its agents have ended, at the latest at the deadline; the second hands running work over now. Ctrl+C is SIGINT, which leaves
 * the agents running. If another orchestrator of this clone stays, SIGTERM is as Ctrl+C: the node goes on.
 */

import { once } from 'node:events';

import { whileEnding } from '../../../compose/board/who-runs.ts';
import { drainNode } from '../../../machines/act/nodes.ts';
import type { Orchestrator } from '../../../orchestrator/orchestrate.ts';
import { spanText } from '../../../kernel/time.ts';
import type { RunContext } from '../../../queue/context.ts';

interface SignalDrain {
  readonly state: () => 'no' | 'drained' | 'now';
  close(): void;
}

/** Heard from before the node joins: a SIGTERM must not end a process that the board already lists as a node. */
export class TermSignals {
  #count = 0;
  #act: ((count: number) => void) | undefined;
  readonly #hear = () => {
    this.#count += 1;
    this.#act?.(this.#count);
  };

  constructor() {
    process.on('SIGTERM', this.#hear);
  }

  get count(): number {
    return this.#count;
  }

  /** For each SIGTERM, those before this call included. */
  obey(act: (count: number) => void): void {
    this.#act = act;
    for (let at = 1; at <= this.#count; at += 1) act(at);
  }

  close(): void {
    process.off('SIGTERM', this.#hear);
  }
}

export function drainOnSignal(
  context: RunContext,
  orchestrator: Orchestrator,
  {
    terms,
    stop,
    tell,
    isAway,
    hasAgents,
  }: {
    readonly terms: TermSignals;
    readonly stop: AbortController;
    readonly tell: (text: string) => void;
    /** Without the board no work can be handed over. */
    readonly isAway: () => boolean;
    /** Whether agents run on this node. */
    readonly hasAgents: () => boolean;
  },
): SignalDrain {
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
  const drain = (signals: number): void => {
    const withinMs = signals === 1 ? context.policy.nodes.drainMs : 0;
    orchestrator.drain(withinMs);
    tell(signals === 1 ? drainText(withinMs, hasAgents()) : stopText(hasAgents()));
    // So that the other nodes know. Without the board, this orchestrator drains all the same.
    void recordDrain(withinMs);
  };
  const mayLeave = async (): Promise<boolean> => {
    const { promise: isLeaving, resolve } = Promise.withResolvers<boolean>();
    const ended = whileEnding(context.home, async (staying) => {
      resolve(staying.length > 0);
      if (!closed.signal.aborted) await once(closed.signal, 'abort');
    });
    // Without the locks it is not known whether another one stays.
    ended.catch(() => resolve(false));
    return isLeaving;
  };
  let leaving: Promise<boolean> | undefined;
  const endOrDrain = async (signals: number): Promise<void> => {
    leaving ??= mayLeave();
    if (!(await leaving)) return drain(signals);
    if (signals === 1) tell(LEAVES);
    stop.abort();
  };
  terms.obey((signals) => {
    // A third one: the second could not be obeyed.
    if (signals > 2 || (signals === 2 && isAway())) return stop.abort();
    void endOrDrain(signals);
  });
  return {
    state: () => (terms.count === 0 ? 'no' : terms.count === 1 ? 'drained' : 'now'),
    close: () => closed.abort(),
  };
}

const LEAVES = 'SIGTERM: this orchestrator ends. Another one here goes on with the work.';

function drainText(withinMs: number, hasAgents: boolean): string {
  if (!hasAgents) return 'SIGTERM: no new work starts here. No agent is running.';
  return `SIGTERM: no new work starts here, and running agents have ${spanText(withinMs)} to finish. Then Copse stops them, and their tasks are ready for the next orchestrator. A second SIGTERM stops them now.`;
}

function stopText(hasAgents: boolean): string {
  return hasAgents
    ? 'SIGTERM again: running agents are stopped now, and their tasks are ready again.'
    : 'SIGTERM again: the orchestrator ends now.';
}

const RECORD_AGAIN_MS = 1_000;
