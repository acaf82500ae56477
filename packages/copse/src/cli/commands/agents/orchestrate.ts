import { waitText } from '../../../explain/rules/queue.ts';
import { waitBefore } from '../../../explain/rules/wait-steps.ts';
import { loadPaused } from '../../../queue/act/paused.ts';
import { splitRemark } from '../../../kernel/shell.ts';
import { announce } from '../../../explain/notices/announce.ts';
import { Orchestrator, type Pass } from '../../../orchestrator/orchestrate.ts';
import { loadOverview } from '../../../explain/overview.ts';
import type { NeedsYou } from '../../../explain/rules/overview.ts';
import type { RunContext } from '../../../queue/context.ts';
import { watchRadar } from '../../../radar/watch.ts';
import { waitingLine, lackOfAgents } from '../../../explain/rules/waiting.ts';
import type { Policy } from '../../../kernel/policy.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { keepUp } from '../../../orchestrator/keep-up.ts';
import { type LoopEnd, runLoop } from '../../../orchestrator/loop.ts';
import { duration } from '../../../config/quantities.ts';
import { loadPending } from '../../../compose/accepted.ts';
import { requireRepository } from '../../../compose/open.ts';
import { PENDING_REMEDY } from '../../../explain/rules/pending.ts';
import { openNotices } from '../../../compose/notices.ts';
import { openLeftovers, openSweepMemory } from '../../../compose/leftovers.ts';
import { BoardAway } from '../../../board/port.ts';
import { asOrchestrator, whoRuns } from '../../../compose/board/who-runs.ts';
import { arrivalOf } from '../../../compose/node-facts.ts';
import { joinNode, staySeen } from '../../../machines/act/join.ts';
import { fail, orFail } from '../../../operations/failure.ts';
import { TermSignals, drainOnSignal } from '../nodes/drain-on-signal.ts';
import { toldBy } from '../nodes/node-options.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { type Dashboard, startDashboard } from '../server/dashboard.ts';
import { messageOf } from '../../read-text.ts';
import { type View, openView, tellEvents } from '../../screen/live-view.ts';
import { printProse } from '../../screen/screen.ts';
import { age } from '../../../explain/rules/amounts.ts';
import { withRun } from '../../with-run.ts';
import { type WaitsForBoard, waitForBoard } from '../../screen/wait-for-board.ts';

interface Options {
  readonly nodeName?: string;
  readonly labels?: readonly string[];
  readonly slots?: string;
  readonly maxAgents?: string;
  readonly maxRetries?: string;
  readonly pollInterval?: string;
  readonly untilIdle?: boolean;
  readonly once?: boolean;
  readonly dryRun?: boolean;
  readonly dashboard?: boolean;
  readonly command?: string;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  if (options.json && !options.dryRun)
    fail('usage', '--json needs --dry-run.', 'copse orchestrate --dry-run --json');
  const limited = limitsOf(options);
  const told = toldBy(cli, options);
  const waits = waitForBoard(cli, ['SIGINT']);
  const opened = { command: options.command, asNode: true, limited, patience: waits.patience };
  const running = withRun(cli, opened, async (context, unusable) => {
    for (const { reason } of unusable) cli.output.note(shown(reason));
    const lack = lackOfAgents(context);
    if (lack !== null) {
      await refuseUnaccepted(cli, unusable.length > 0);
      const again = `copse orchestrate${options.dryRun ? ' --dry-run' : ''} --command "…"`;
      fail('invalid', lack.text, lack.command, `${again} # with a command as the agent`);
    }
    if (options.dryRun) await showPlan(cli, context, options);
    else {
      const terms = new TermSignals();
      let dashboard: Dashboard | undefined;
      try {
        orFail(await joinNode(context, arrivalOf(cli, context, told)));
        if (options.dashboard) dashboard = await startDashboard(cli);
        const parts = { ...waits, terms, dashboard };
        if (!options.once) await printBegin(cli, context, options);
        await asOrchestrator(context.home, () => orchestrate(cli, context, parts, options));
      } finally {
        await dashboard?.end();
        terms.close();
      }
    }
  });
  await running.finally(() => waits.end());
}

/** The agent that is missing may be in a copse.yml that is not accepted yet. */
async function refuseUnaccepted(cli: Cli, hasUnusable: boolean): Promise<void> {
  const { changes, isFirst } = await loadPending(requireRepository(cli));
  const change = changes.find(({ name, now }) => name === 'copse.yml' && now !== null);
  if (isFirst || change === undefined) return;
  const accepted = hasUnusable ? 'none of the agents in the accepted copse.yml can run here, and ' : '';
  if (change.problem !== null)
    fail(
      'invalid',
      `No agent can start: ${accepted}the new or changed copse.yml has mistakes.`,
      'copse config check',
    );
  fail(
    'invalid',
    `No agent can start: ${accepted}Copse does not use the new or changed copse.yml before you accept it.`,
    PENDING_REMEDY,
  );
}

function limitsOf({ maxAgents: most, slots, maxRetries, pollInterval }: Options): (policy: Policy) => Policy {
  const [maxAgents, option] = slots === undefined ? [most, '--max-agents'] : [slots, '--slots'];
  const orchestration = {
    ...(maxAgents !== undefined && { maxAgents: requireCount(maxAgents, option, 1) }),
    ...(pollInterval !== undefined && { pollIntervalMs: requireDuration(pollInterval) }),
  };
  const retry = {
    ...(maxRetries !== undefined && { maxRetries: requireCount(maxRetries, '--max-retries', 0) }),
  };
  return (policy) => ({
    ...policy,
    orchestration: { ...policy.orchestration, ...orchestration },
    retry: { ...policy.retry, ...retry },
  });
}

interface OrchestrateParts extends WaitsForBoard {
  readonly terms: TermSignals;
  readonly dashboard: Dashboard | undefined;
}

async function orchestrate(
  cli: Cli,
  context: RunContext,
  { stop, tellBy, isAway, terms, dashboard }: OrchestrateParts,
  options: Options,
): Promise<void> {
  const view = openView(cli, context, { onInterrupt: 'leaves the agents running' });
  const orchestrator = new Orchestrator(context, (task, reason) => view.problem(task, reason));
  tellBy((text) => view.problem(null, text));
  dashboard?.tellBy((text) => stop.signal.aborted || view.problem(null, text));
  let last: Pass | undefined;
  const ending = drainOnSignal(context, orchestrator, {
    terms,
    // Before the first look it is not known.
    hasAgents: () =>
      last?.running.some(({ held }) => held.node === context.node && held.attempt !== null) ?? true,
    stop,
    isAway,
    tell: (text) => view.problem(null, text),
  });
  const untaken = new Untaken(context, view);
  const telling = new AbortController();
  const isOver = (error: unknown) => stop.signal.aborted && error instanceof BoardAway;
  // One that fails ends neither the others nor the loop, and none reads the board after it is closed.
  const beside: Promise<void>[] = [];
  const onProblem = (reason: string) => view.problem(null, reason);
  const start = (work: Promise<void>): void => {
    // The end of an orchestrator that is stopped in an outage says so.
    beside.push(work.catch((error: unknown) => void (isOver(error) || onProblem(messageOf(error)))));
  };
  const { signal } = telling;
  const after = await context.board.lastEvent();
  const ring = cli.output.isTerminal ? () => void cli.output.raw('\u0007') : undefined;
  const notices = await openNotices(cli, context.policy, ring);
  start(tellEvents(context, after, signal, (event) => view.event(event)));
  start(announce(context, { ...notices, after, signal, onProblem }));
  start(watchRadar(context, { signal, onProblem }));
  const sweeps = openSweepMemory(context.home);
  const stopping = stop.signal;
  start(keepUp(context, { leftovers: openLeftovers(cli), sweeps, signal, stopping, onProblem }));
  start(staySeen(context, signal));
  try {
    const end = await runLoop(context, orchestrator, {
      signal: stop.signal,
      isOnce: options.once ?? false,
      untilIdle: options.untilIdle ?? false,
      pollIntervalMs: context.policy.orchestration.pollIntervalMs,
      ending: ending.state,
      onPass: (pass) => {
        view.pass((last = pass));
        if (!options.untilIdle && !options.once) untaken.tell(pass);
      },
      onProblem: (error) => void (isOver(error) || onProblem(messageOf(error))),
    });
    telling.abort();
    await Promise.all(beside);
    await view.close();
    const { needsYou } = await loadOverview(context, { isOrchestrated: false, readyLimit: 0 });
    await printEnd(cli, context, end, needsYou);
    if (end === 'idle' || end === 'once') await tellLeft(cli, context, last?.waiting ?? []);
    if (end === 'idle') failIfLeft(needsYou, last?.waiting ?? []);
  } catch (error) {
    if (!isOver(error)) throw error;
    telling.abort();
    await Promise.all(beside);
    await view.close();
    cli.output.line('Stopped while the board was away. Agents that run here keep running.');
  } finally {
    telling.abort();
    await Promise.all(beside);
    ending.close();
  }
}

/** Until something happens, no other line tells that it runs. */
async function printBegin(
  { output }: Cli,
  { board, home, node }: RunContext,
  { untilIdle }: Options,
): Promise<void> {
  const name = (await board.get('node', node))?.name ?? node;
  if (!untilIdle) output.line(`Orchestrator runs on node ${shown(name)}. Ctrl+C stops it; agents go on.`);
  const others = (await whoRuns(home)).orchestrators.filter((pid) => pid !== process.pid);
  if (others.length > 0) printProse(output, besideText(others), 2);
}

function besideText(others: readonly number[]): string {
  const [runs, ended] =
    others.length === 1
      ? [`Another orchestrator runs here (process ${others[0]})`, 'that one ends']
      : [`Other orchestrators run here (processes ${others.join(', ')})`, 'they end'];
  return `${runs}. They share the work; when ${ended}, this one goes on with all of it.`;
}

async function printEnd(
  { output }: Cli,
  { board, clock, home }: RunContext,
  end: LoopEnd,
  needsYou: readonly NeedsYou[],
): Promise<void> {
  const held = await board.held();
  const running = held.filter(
    ({ task: { state } }) => state.status === 'in_progress' && !state.claim.isByHand,
  );
  const hasOther = (await whoRuns(home)).orchestrators.some((pid) => pid !== process.pid);
  const stillRunning = stillRunningText(running.length, hasOther);
  if (end === 'stopped') output.line(`Stopped.${stillRunning}`);
  if (end === 'drained') output.line('Drained: no agent runs on this node any more.');
  if (end === 'left') output.line('Stopped: this node left the board.');
  if (end === 'once')
    output.line(`Ran once${stillRunning === '' ? ': no agent is running.' : `.${stillRunning}`}`);
  if (end === 'idle') output.line('Idle: no task can start or land without you.');
  const told = new Set<TaskId>();
  const commands = new Set<string>();
  for (const landing of await board.openLandings()) {
    const { task, target, queuedAt, waiting } = landing;
    if (waiting === null) continue;
    const since = age(queuedAt, clock.now());
    const need = needsYou.find((one) => one.kind === 'landing' && one.task === task);
    const why = need === undefined ? waitText(waiting, target) : waitBefore(waiting, target);
    printProse(output, `  ${output.style('yellow', 'landing')} ${task} (${since}) ${shown(why)}`, 4);
    const resume = (await loadPaused(board, landing))?.resume;
    const command = need?.command ?? (resume === undefined ? undefined : splitRemark(resume).command);
    if (command !== undefined && !commands.has(command))
      output.line(`    ${output.style('dim', `→ ${command}`)}`);
    if (command !== undefined) commands.add(command);
    if (need !== undefined) told.add(need.task);
  }
  for (const { task, title, status, since, reason, command } of needsYou) {
    if (told.has(task)) continue;
    const word = output.style('red', status.replaceAll('_', ' '));
    printProse(output, `  ${word} ${task} (${age(since, clock.now())}) ${shown(title)}`, 4);
    printProse(output, `    ${shown(reason)}`);
    output.line(`    ${output.style('dim', `→ ${command}`)}`);
  }
}

function stillRunningText(count: number, hasOtherOrchestrator: boolean): string {
  if (count === 0) return '';
  const [keeps, them] = count === 1 ? ['1 agent keeps', 'it'] : [`${count} agents keep`, 'them'];
  return hasOtherOrchestrator
    ? ` ${keeps} running; another orchestrator here looks after ${them}.`
    : ` ${keeps} running; \`copse orchestrate\` takes ${them} over again.`;
}

/** Ready tasks that cannot start here at all. */
function leftOf(waiting: Pass['waiting']): Pass['waiting'] {
  return waiting.filter(({ waiting: { kind } }) => ['agent', 'memory', 'disk'].includes(kind));
}

async function tellLeft(
  { output }: Cli,
  { board, clock }: RunContext,
  waiting: Pass['waiting'],
): Promise<void> {
  for (const { task, waiting: reason } of leftOf(waiting).slice(0, PLANNED)) {
    const title = (await board.get('task', task))?.title ?? '';
    printProse(output, `  ${output.style('red', 'ready')} ${task} ${shown(title)}`, 4);
    printProse(output, `    ${shown(waitingLine(reason, clock.now()))}`);
  }
}

/** A script must not take them for done. */
function failIfLeft(needsYou: readonly NeedsYou[], waiting: Pass['waiting']): void {
  const [need] = needsYou;
  if (need !== undefined)
    fail(
      'needs_person',
      needsYou.length === 1 ? `${need.task} needs you.` : `${needsYou.length} tasks need you.`,
      'copse status',
    );
  const left = leftOf(waiting);
  const [first] = left;
  if (first === undefined) return;
  fail(
    'wrong_status',
    left.length === 1 ? `${first.task} cannot start here.` : `${left.length} ready tasks cannot start here.`,
    `copse why ${first.task}`,
  );
}

/** While nothing runs: which ready tasks no agent can take, each once. */
class Untaken {
  readonly #context: RunContext;
  readonly #view: View;
  readonly #told = new Set<TaskId>();

  constructor(context: RunContext, view: View) {
    this.#context = context;
    this.#view = view;
  }

  tell({ running, hasStarted, waiting }: Pass): void {
    if (hasStarted || running.length > 0) return;
    const untaken = waiting.filter((one) => one.waiting.kind === 'agent' && !this.#told.has(one.task));
    for (const { task, waiting: reason } of untaken.slice(0, TOLD))
      this.#view.problem(task, waitingLine(reason, this.#context.clock.now()));
    const more = untaken.length - TOLD;
    if (more > 0) this.#view.problem(null, `No agent can take ${more} more tasks: copse list --status ready`);
    for (const { task } of untaken) this.#told.add(task);
  }
}

const TOLD = 5;

const PLANNED = 50;

async function showPlan({ output }: Cli, context: RunContext, options: Options): Promise<void> {
  const orchestrator = new Orchestrator(context, () => {});
  const plan = await orchestrator.preview(PLANNED);
  const now = context.clock.now();
  if (options.json) {
    output.json({
      plan: plan.map((one) =>
        one.kind === 'placed'
          ? { task: one.task, start: true, agent: one.agent }
          : { task: one.task, start: false, because: waitingLine(one.waiting, now) },
      ),
    });
    return;
  }
  if (plan.length === 0) output.line('No task is ready.');
  for (const one of plan) {
    const task = await context.board.get('task', one.task);
    const what =
      one.kind === 'placed'
        ? `${output.style('cyan', 'would start')} with ${shown(one.agent)}`
        : shown(waitingLine(one.waiting, now));
    printProse(output, `${one.task} ${shown(task?.title ?? '')}\n    ${what}`, 4);
  }
}

function requireCount(text: string, option: string, least: number): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : -1;
  if (count >= least) return count;
  return fail(
    'invalid',
    `${option} must be a number of at least ${least}, not "${text}".`,
    'copse orchestrate --help',
  );
}

function requireDuration(text: string): number {
  const parsed = duration.safeParse(text);
  if (parsed.success) return parsed.data;
  return fail(
    'invalid',
    `--poll-interval must be a time like 5s or 1m, not "${text}".`,
    'copse orchestrate --help',
  );
}
