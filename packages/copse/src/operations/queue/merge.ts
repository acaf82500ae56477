import { firstLine } from '../../explain/rules/status.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { shown } from '../../kernel/text.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import { skipChecks } from '../../queue/act/control.ts';
import { type LandingResult, queueTask } from '../../queue/act/merge.ts';
import type { RunContext } from '../../queue/context.ts';
import type { Landing } from '../../queue/rules/landing.ts';
import { type Access, contextOfAll } from '../access.ts';
import { type Failure, fail, orFail } from '../failure.ts';
import { requireTaskIds } from '../find.ts';
import { explainLanding } from './landing-failure.ts';
import { type LandingListener, LandingWait, StoppedWaiting } from './landing-wait.ts';

interface Input {
  readonly tasks: readonly string[];
  /** Of one task: land it only if its branch is at this commit. */
  readonly head?: string | undefined;
  /** Land without checks. */
  readonly now?: boolean | undefined;
  /** After that, tasks that did not land stay in the queue. */
  readonly waitSeconds?: number | undefined;
  /** Told what happens meanwhile. */
  readonly open?: (wait: BegunWait) => OpenWait;
}

export interface BegunWait {
  readonly context: RunContext;
  readonly landings: readonly Landing[];
  /** Tasks whose accept commands failed, with the first line of the reason. */
  readonly unaccepted: ReadonlyMap<TaskId, string>;
}

export interface OpenWait extends LandingListener {
  /** Ends the wait; the tasks stay in the queue. */
  readonly signal: AbortSignal;
  close(this: void): Promise<void>;
}

interface MergeResults {
  readonly results: readonly LandingResult[];
  /** Of each that did not land. */
  readonly failures: readonly Failure[];
}

export async function act(access: Access, input: Input): Promise<MergeResults> {
  const { head, now, waitSeconds = defaultPolicy.operations.landingSeconds, open = openSilently } = input;
  return access.run(async (run) => {
    const ids = [...new Set(await requireTaskIds(run.board, input.tasks))];
    if (head !== undefined && ids.length > 1)
      fail('invalid', '--head is the commit of one task.', `copse merge ${ids[0]} --head ${shown(head)}`);
    const context = await contextOfAll(run, ids);
    const landings: Landing[] = [];
    const unaccepted = new Map<TaskId, string>();
    for (const id of ids) {
      const state = (await context.board.get('task', id))?.state;
      if (state?.status === 'needs_attention' && state.because === 'accept')
        unaccepted.set(id, firstLine(state.reason));
      landings.push(orFail(await queueTask(context, id, { named: head })));
    }
    if (now) orFail(await skipChecks(context, ids));
    const results = await waitFor(open({ context, landings, unaccepted }), {
      context,
      landings,
      waitSeconds,
      stopped: access.signal,
    });
    const failed = results.filter(({ kind }) => kind !== 'landed');
    const failures = await Promise.all(failed.map((one) => explainLanding(context, one, access.here)));
    return { results, failures };
  });
}

export function view({ results }: MergeResults) {
  return { landings: results.map(resultView) };
}

function resultView(result: LandingResult) {
  switch (result.kind) {
    case 'landed': {
      const { kind: landing, ...rest } = result;
      return { landing, ...rest };
    }
    case 'waiting': {
      const { task, reason } = result;
      return { landing: 'waits' as const, task, reason };
    }
    case 'refused': {
      const { kind: landing, ...rest } = result;
      return { landing, ...rest };
    }
    case 'gone': {
      const { kind: landing, ...rest } = result;
      return { landing, ...rest };
    }
    default:
      return unreachable(result);
  }
}

function openSilently(): OpenWait {
  return {
    signal: new AbortController().signal,
    ended: () => {},
    ledElsewhere: () => {},
    close: () => Promise.resolve(),
  };
}

async function waitFor(
  wait: OpenWait,
  {
    context,
    landings,
    waitSeconds,
    stopped,
  }: {
    readonly context: RunContext;
    readonly landings: readonly Landing[];
    readonly waitSeconds: number;
    readonly stopped: AbortSignal | undefined;
  },
): Promise<readonly LandingResult[]> {
  const over = new AbortController();
  const closed = new AbortController();
  const stop = () => over.abort(new StoppedWaiting(`it did not land within ${waitSeconds} s`));
  const leave = () => over.abort(new StoppedWaiting('the server stopped'));
  if (stopped?.aborted) leave();
  else stopped?.addEventListener('abort', leave, { once: true });
  if (waitSeconds === 0) stop();
  else if (Number.isFinite(waitSeconds))
    void context.clock.sleep(waitSeconds * 1_000, closed.signal).then(() => closed.signal.aborted || stop());
  try {
    const signal = AbortSignal.any([wait.signal, over.signal]);
    return await new LandingWait(context, landings, wait, signal).run();
  } finally {
    stopped?.removeEventListener('abort', leave);
    closed.abort();
    await wait.close();
  }
}
