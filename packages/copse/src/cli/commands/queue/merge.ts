import { nextSteps } from '../../../explain/next-steps.ts';
import { waitText } from '../../../explain/rules/queue.ts';
import { waitSteps } from '../../../explain/rules/wait-steps.ts';
import { isOrchestratedAt } from '../../../compose/board/who-runs.ts';
import { firstLine } from '../../../explain/rules/status.ts';
import { type LandingResult, landNow, queueTask } from '../../../queue/act/merge.ts';
import { loadPaused } from '../../../queue/act/paused.ts';
import { skipChecks } from '../../../queue/act/control.ts';
import type { RunContext } from '../../../queue/context.ts';
import type { BranchName, TaskId } from '../../../kernel/ids.ts';
import { LeadSilence, queueResource } from '../../../queue/lead/leadership.ts';
import type { Landing } from '../../../queue/rules/landing.ts';
import { shown } from '../../../kernel/text.ts';
import { unreachable } from '../../../kernel/unreachable.ts';
import { statusPredicate } from '../../../tasks/rules/task.ts';
import { OperationFailed, orFail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { type LandingView, openLandingView } from '../../screen/landing-view.ts';
import { requireTaskIds } from '../../../operations/find.ts';
import { contextOfAll } from '../../../operations/access.ts';
import { withRun } from '../../with-run.ts';
import { printSteps } from '../../after/next-steps.ts';

interface Options {
  readonly now?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withRun(cli, {}, async (run) => {
    const ids = [...new Set(await requireTaskIds(run.board, words))];
    const context = await contextOfAll(run, ids);
    const landings: Landing[] = [];
    const unaccepted = new Map<TaskId, string>();
    for (const id of ids) {
      const state = (await context.board.get('task', id))?.state;
      if (state?.status === 'needs_attention' && state.because === 'accept')
        unaccepted.set(id, firstLine(state.reason));
      landings.push(orFail(await queueTask(context, id)));
    }
    if (options.now) orFail(await skipChecks(context, ids));
    const landed = await landAll(cli, context, landings, { ...options, unaccepted });
    if (options.json) cli.output.json({ landings: landed.map(resultView) });
    const [only, ...others] = landed;
    if (!options.json && only?.kind === 'landed' && others.length === 0)
      printSteps(cli.output, [`copse undo ${only.task} # to undo it`]);
    const failed = landed.filter(({ kind }) => kind !== 'landed');
    const [first, ...further] = await Promise.all(failed.map((one) => explain(context, one)));
    for (const { reason } of further) cli.output.note(shown(reason));
    if (first !== undefined) throw new OperationFailed(first);
  });
}

function resultView({ kind, ...result }: LandingResult) {
  return { landing: kind === 'waiting' ? 'waits' : kind, ...result };
}

async function landAll(
  cli: Cli,
  context: RunContext,
  landings: readonly Landing[],
  { unaccepted, ...options }: Options & { readonly unaccepted: ReadonlyMap<TaskId, string> },
): Promise<readonly LandingResult[]> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  const view = openLandingView(cli, context, landings, options);
  try {
    const telling = {
      ended: (one: LandingResult) => tell(cli, context, view, one, unaccepted.get(one.task)),
      ledElsewhere: (text: string) => view.say([text]),
    };
    return await new Waiting(context, landings, telling, stop.signal).run();
  } finally {
    await view.close();
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

/** How often to look whether another leader of the queue has landed it. */
const LOOK_EVERY_MS = 300;
/** Under another leader, a landing that is held for this long is no longer waited for. */
const PATIENCE_MS = 3_000;
/** Another leader lands most things within this time, without a word about it. */
const SILENT_MS = 2_000;

interface Telling {
  ended(this: void, landed: LandingResult): void;
  ledElsewhere(this: void, text: string): void;
}

/** Waits until each landing has landed, was refused, or is held. */
class Waiting {
  readonly #context: RunContext;
  readonly #landings: readonly Landing[];
  readonly #telling: Telling;
  readonly #signal: AbortSignal;
  readonly #results = new Map<TaskId, LandingResult>();
  readonly #heldSinceMs = new Map<TaskId, number>();
  /** Of this whole command: after a lead of silence it leads itself. */
  readonly #silence = new LeadSilence();
  readonly #toldLeaders = new Set<string>();

  constructor(context: RunContext, landings: readonly Landing[], telling: Telling, signal: AbortSignal) {
    this.#context = context;
    this.#landings = landings;
    this.#telling = telling;
    this.#signal = signal;
  }

  async run(): Promise<readonly LandingResult[]> {
    const begunMs = this.#context.clock.elapsedMs();
    for (;;) {
      for (const landing of this.#left()) this.#end(await this.#elsewhere(landing));
      const left = this.#left();
      if (left.length === 0) break;
      const tasks = left.map(({ task }) => task);
      const own = await landNow(this.#context, tasks, { signal: this.#signal, silence: this.#silence });
      for (const landed of own.values()) this.#end(await this.#checked(landed));
      if (this.#context.clock.elapsedMs() - begunMs > SILENT_MS) await this.#sayWhoLeads();
      if (this.#signal.aborted) for (const { task } of this.#left()) this.#end(interrupted(task));
      else await this.#context.clock.sleep(LOOK_EVERY_MS, this.#signal);
    }
    return this.#landings.flatMap(({ task }) => this.#results.get(task) ?? []);
  }

  async #sayWhoLeads(): Promise<void> {
    for (const target of new Set(this.#left().map((landing) => landing.target))) {
      const holder = (await this.#context.board.get('resource', queueResource(target)))?.holder ?? null;
      const key = `${target} ${holder}`;
      if (holder === null || this.#toldLeaders.has(key)) continue;
      this.#toldLeaders.add(key);
      this.#telling.ledElsewhere(await this.#leaderText(target, holder));
    }
  }

  async #leaderText(target: BranchName, holder: string): Promise<string> {
    const { board, node, policy } = this.#context;
    if (holder === node)
      return `Another Copse process on this machine leads the queue of ${target}; waiting for it.`;
    const name = (await board.get('node', holder))?.name ?? holder;
    const seconds = policy.landing.leadMs / 1_000;
    return `Machine ${shown(name)} leads the queue of ${target}; waiting for it. If it is silent for ${seconds} s, this command takes the lead.`;
  }

  #left(): readonly Landing[] {
    return this.#landings.filter(({ task }) => !this.#results.has(task));
  }

  #end(landed: LandingResult | undefined): void {
    if (landed === undefined || this.#results.has(landed.task)) return;
    const isStopped = landed.kind === 'waiting' && this.#signal.aborted;
    const result = isStopped ? interrupted(landed.task) : landed;
    this.#results.set(landed.task, result);
    this.#telling.ended(result);
  }

  /** A landing that left the queue meanwhile may have been landed by another leader. */
  async #checked(landed: LandingResult): Promise<LandingResult> {
    const landing = this.#landings.find(({ task }) => task === landed.task);
    if (landed.kind !== 'gone' || landing === undefined) return landed;
    return (await this.#elsewhere(landing)) ?? landed;
  }

  async #elsewhere({ id, task }: Landing): Promise<LandingResult | undefined> {
    const { board, clock } = this.#context;
    const now = await board.get('landing', id);
    const of = { task };
    switch (now?.state.status) {
      case 'landed': {
        const { commit, isVerified } = now.state;
        return { kind: 'landed', ...of, commit, isVerified, promoted: [], notes: [] };
      }
      case 'queued':
      case 'merging':
      case 'checking': {
        if (now.waiting === null) this.#heldSinceMs.delete(task);
        else this.#heldSinceMs.set(task, this.#heldSinceMs.get(task) ?? clock.elapsedMs());
        const heldMs = clock.elapsedMs() - (this.#heldSinceMs.get(task) ?? Infinity);
        return now.waiting !== null && heldMs >= PATIENCE_MS
          ? { kind: 'waiting', ...of, reason: waitText(now.waiting) }
          : undefined;
      }
      default: {
        const state = (await board.get('task', task))?.state;
        const why = state !== undefined && 'reason' in state ? `: ${state.reason}` : '';
        return {
          kind: 'gone',
          ...of,
          reason: `${task} ${state === undefined ? 'was deleted' : statusPredicate(state.status)}${why}`,
        };
      }
    }
  }
}

function interrupted(task: TaskId): LandingResult {
  return { kind: 'waiting', task, reason: 'you stopped waiting' };
}

function tell(
  { output }: Cli,
  context: RunContext,
  view: LandingView,
  landed: LandingResult,
  unaccepted: string | undefined,
): void {
  if (landed.kind !== 'landed') return;
  const { task, commit, isVerified, notes, promoted } = landed;
  const hasChecks = Object.keys(context.landing.checks).length > 0;
  const why = hasChecks ? 'its checks were skipped' : 'no checks are set';
  const unverified = isVerified ? '' : output.style('yellow', ` (without checks: ${why})`);
  view.say([
    `${output.style('green', 'Landed')} ${task} as ${commit.slice(0, 10)}${unverified}`,
    ...(unaccepted === undefined
      ? []
      : [output.style('yellow', `    Landed although its a${shown(unaccepted.slice(1))}`)]),
    ...removedText(landed).map((line) => `    ${line}`),
    ...notes.map((note) => `    ${shown(note)}`),
    ...promoted.map((one) => `    ${one} is ready now`),
  ]);
}

/** Nothing when another leader of the queue landed it: it removes the worktree. */
function removedText({ removed }: Extract<LandingResult, { kind: 'landed' }>): readonly string[] {
  if (!removed?.worktree) return [];
  const { worktree, branch, branchDeleted } = removed;
  const also = branchDeleted && branch !== null ? ` and its branch ${shown(branch)}` : '';
  return [`Removed its worktree ${shown(worktree)}${also}`];
}

type Failed = ConstructorParameters<typeof OperationFailed>[0];

async function explain(context: RunContext, landed: LandingResult): Promise<Failed> {
  const { task } = landed;
  switch (landed.kind) {
    case 'refused':
      return {
        code: 'wrong_status',
        reason: landed.cause.reason,
        next: await refusedSteps(context, task),
      };
    case 'waiting':
      return {
        code: 'wrong_status',
        reason: `${task} stays in the queue: ${landed.reason}.`,
        next: [
          ...(await landingSteps(context, task)),
          `copse queue cancel ${task} # to take it out of the queue`,
        ],
      };
    case 'gone':
      return { code: 'wrong_status', reason: `${landed.reason}.`, next: [`copse why ${task}`] };
    case 'landed':
      throw new Error(`${task} landed`);
    default:
      return unreachable(landed);
  }
}

/** It needs attention now: what `copse why` proposes, without what was just refused. */
async function refusedSteps(context: RunContext, id: TaskId): Promise<readonly string[]> {
  const task = await context.board.get('task', id);
  if (task?.state.status !== 'needs_attention') return [`copse why ${id}`];
  const steps = await nextSteps(context, task);
  return steps.filter((step) => !step.startsWith(`copse merge ${id}`) && !step.startsWith('copse cancel '));
}

/** A pause stops `copse merge` and orchestrators alike. A running orchestrator lands it without a command. */
async function landingSteps({ board, home }: RunContext, id: TaskId): Promise<readonly string[]> {
  const state = (await board.get('task', id))?.state;
  const landing = state?.status === 'landing' ? await board.get('landing', state.landing) : undefined;
  const paused = await loadPaused(board, landing);
  if (paused !== undefined) return [paused.resume];
  const steps =
    landing?.waiting == null ? [] : waitSteps(landing.waiting, { task: id, target: landing.target });
  if (await isOrchestratedAt(home)) return steps.length === 0 ? [`copse why ${id}`] : steps;
  if (landing?.waiting?.kind === 'target_red') return steps;
  return [...steps, `copse merge ${id}${steps.length === 0 ? '' : ' # after that'}`, 'copse orchestrate'];
}
