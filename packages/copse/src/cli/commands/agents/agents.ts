import { reportedPhase } from '../../../agents/rules/session/session.ts';
import { type OpenQuestion, openQuestionOf } from '../../../agents/act/answer.ts';
import { LeaseAges, observeRunning } from '../../../agents/act/observe.ts';
import { findRepository } from '../../../compose/open.ts';
import type { OpenRun } from '../../../compose/run/run.ts';
import { questionLines, questionView } from '../../../explain/question.ts';
import { age, times, usageText } from '../../../explain/rules/amounts.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { time } from '../../../kernel/time.ts';
import { isNothing } from '../../../kernel/usage.ts';
import type { LookContext } from '../../../queue/context.ts';
import type { TaskSummary } from '../../../tasks/rules/task.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { printSteps } from '../../after/next-steps.ts';
import { splitInstall } from '../../after/install-step.ts';
import { printProse } from '../../screen/screen.ts';
import { indented, phaseText } from '../../screen/render.ts';
import { withLook } from '../../../compose/look.ts';

interface Options {
  readonly json?: boolean;
}

/** Which agents work on which tasks, on every machine, and which agents this machine has. */
export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [what] = words;
  if (what === 'detect') return detect(cli, options);
  if (what !== undefined)
    fail('invalid', `copse agents takes detect or nothing, not "${what}".`, 'copse agents --help');
  await withLook(cli, async (context, unusable) => {
    const now = context.clock.now();
    const running = await loadRunning(context);
    const delayed = await context.board.tasks({ statuses: ['ready'], delayedAt: now, order: 'urgent' });
    const limited = limitedAt(delayed, now);
    const agents = agentsOf(context);
    if (options.json) {
      cli.output.json({
        running: running.map((one) => ({
          ...one,
          since: time(one.since),
          question: one.question ? questionView(one.question) : null,
        })),
        limited: limited.map(({ task, until }) => ({ task: task.id, until: time(until) })),
        agents,
        unusable,
      });
      return;
    }
    printRunning(cli.output, running, now, agents.length > 0);
    printLimited(cli.output, limited, now);
    printAgents(cli.output, agents, unusable);
  });
}

async function loadRunning(context: LookContext) {
  const { board, node } = context;
  const rows = [];
  for (const { task, attempt, held } of await observeRunning(context, new LeaseAges())) {
    if (task.state.status !== 'in_progress') continue;
    const { claim, since } = task.state;
    const session = await board.get('session', claim.session);
    const live = session?.state.life === 'live' ? session.state : null;
    rows.push({
      task: task.id,
      title: task.title,
      agent: claim.agent,
      node: claim.node,
      isHere: claim.node === node,
      since,
      phase: live?.phase ?? null,
      attention: live?.attention ?? null,
      question: await openQuestionOf(board, task),
      usage: session === undefined || isNothing(session.usage) ? null : session.usage,
      runner: attempt === undefined ? 'by hand' : held.runner,
      pid: attempt?.process?.pid ?? null,
      crashes: task.retries,
    });
  }
  return rows;
}

type Row = Awaited<ReturnType<typeof loadRunning>>[number];

function phaseOf({ phase, runner }: Row): readonly string[] {
  const reported = reportedPhase(phase ?? undefined);
  if (reported !== null) return [phaseText(reported)];
  return runner === 'by hand' ? [runner] : [];
}

function printRunning(output: Output, rows: readonly Row[], now: Timestamp, canStart: boolean): void {
  output.line(output.style('bold', `Running (${rows.length})`));
  for (const row of rows) {
    const facts = [
      shown(row.agent),
      placeOf(row),
      ...(row.isHere && row.runner === 'gone' ? [output.style('red', 'its runner is gone')] : phaseOf(row)),
      ...(row.usage === null ? [] : [usageText(row.usage)]),
      ...(row.crashes === 0 ? [] : [`crashed ${times(row.crashes)} before`]),
    ].join(', ');
    const attention =
      row.attention === null || row.question !== undefined
        ? ''
        : output.style('yellow', ` waits for you: ${row.attention}`);
    const head = `${output.style('cyan', '*')} ${row.task} (${age(row.since, now)}) ${facts}${attention}`;
    printProse(output, head, 6);
    printProse(output, `      ${shown(row.title)}`);
    if (row.question !== undefined)
      printProse(output, output.style('yellow', questionBelow(row.question, now)), 6);
  }
  if (rows.length === 0)
    output.line(`    No agents running.${canStart ? ' Start them: copse orchestrate' : ''}`);
}

function questionBelow(question: OpenQuestion, now: Timestamp): string {
  return indented(shown(questionLines(question, now).join('\n')), 6);
}

function placeOf({ isHere, pid, runner, node }: Row): string {
  if (!isHere) return `machine ${node}`;
  if (pid !== null) return `pid ${pid}`;
  return runner === 'never_told' ? 'starting' : runner;
}

type Limited = ReturnType<typeof limitedAt>;

/** Tasks whose agent hit a rate limit that has not expired. */
function limitedAt(ready: readonly TaskSummary[], now: Timestamp) {
  return ready.flatMap((task) => {
    const delay = task.state.status === 'ready' ? task.state.delay : null;
    return delay?.because === 'rate_limit' && delay.until > now ? [{ task, until: delay.until }] : [];
  });
}

function printLimited(output: Output, limited: Limited, now: Timestamp): void {
  if (limited.length > 0) output.line(`\n${output.style('bold', `Rate limited (${limited.length})`)}`);
  for (const { task, until } of limited)
    printProse(output, `    ${task.id} is retried in ${age(now, until)}: ${shown(task.title)}`, 6);
  output.line();
}

function agentsOf({ agents }: LookContext) {
  return agents.map(({ name, runtime, command, max, capabilities, sandbox, terminal }) => ({
    name,
    runtime,
    command: typeof command === 'string' ? command : (command ?? []).join(' '),
    max: max ?? null,
    capabilities,
    sandbox,
    terminal,
  }));
}

function printAgents(
  output: Output,
  agents: ReturnType<typeof agentsOf>,
  unusable: OpenRun['unusable'],
): void {
  output.line(output.style('bold', `Agents (${agents.length})`));
  for (const agent of agents) {
    const limits = [
      agent.max === null ? '' : `at most ${agent.max} at once`,
      agent.terminal === 'tmux' ? 'in tmux' : '',
      `sandbox: ${agent.sandbox}`,
    ].filter((text) => text !== '');
    printProse(output, `    ${shown(agent.name)}: ${shown(agent.command)} (${limits.join(', ')})`, 6);
  }
  for (const { reason } of unusable) {
    const { found, install } = splitInstall(reason);
    printProse(output, `    ${output.style('yellow', shown(found))}`, 6);
    if (install !== null) printSteps(output, [install]);
  }
  if (agents.length === 0 && unusable.length === 0)
    output.line('    No agent is installed or configured. Try: copse agents detect');
}

/** Which agent programs are installed, in which version, and whether they start. */
async function detect(cli: Cli, options: Options): Promise<void> {
  const { detectAgents } = await import('../../../compose/run/agents.ts');
  const { output } = cli;
  const found = await detectAgents(cli, findRepository(cli.cwd)?.top ?? cli.cwd);
  if (options.json) {
    output.json({ runtimes: found });
    return;
  }
  for (const { runtime, place, version, problem, install } of found) {
    const name = runtime.padEnd(10);
    if (place === null) {
      output.line(`${output.style('dim', '–')} ${name} not installed: ${install}`);
      continue;
    }
    const mark = problem === null ? output.style('green', '✓') : output.style('red', '✗');
    output.line(`${mark} ${name} ${shown(problem ?? version ?? 'version unknown')}`);
    output.line(output.style('dim', `             ${shown(place)}`));
  }
  const first = found.find(({ place, problem }) => place !== null && problem === null);
  output.line();
  output.line(
    first === undefined
      ? 'Any program can be an agent: copse orchestrate --command "./my-agent.sh"'
      : `Without agents in copse.yml, Copse uses ${first.runtime}. To choose: copse init`,
  );
}
