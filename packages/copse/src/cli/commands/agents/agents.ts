import { reportedPhase } from '../../../agents/rules/session/session.ts';
import type { OpenQuestion } from '../../../agents/act/answer.ts';
import { withAccess } from '../../../compose/operations/access.ts';
import { questionLines } from '../../../explain/question.ts';
import { age, times, usageText } from '../../../explain/rules/amounts.ts';
import { splitInstall } from '../../../explain/rules/reason.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import { named, shown } from '../../../kernel/text.ts';
import {
  type AgentsNow,
  type LimitedTask,
  type RunningAgent,
  act,
  view,
} from '../../../operations/agents/running.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { printSteps } from '../../after/next-steps.ts';
import { printProse } from '../../screen/screen.ts';
import { indented, phaseText } from '../../screen/render.ts';

interface Options {
  readonly json?: boolean;
}

/** Which agents work on which tasks, on every machine, and which agents this machine has. */
export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [what] = words;
  if (what === 'detect') return detect(cli, options);
  if (what !== undefined)
    fail('invalid', `copse agents takes detect or nothing, not "${what}".`, 'copse agents --help');
  await withAccess(cli, async (access) => {
    const now = await act(access);
    if (options.json) return cli.output.json(view(now));
    printRunning(cli.output, now.running, now.at, now.agents.length > 0);
    printLimited(cli.output, now.limited, now.at);
    printAgents(cli.output, now);
  });
}

function phaseOf({ phase, runner }: RunningAgent): readonly string[] {
  const reported = reportedPhase(phase ?? undefined);
  if (reported !== null) return [phaseText(reported)];
  return runner === 'by hand' ? [runner] : [];
}

function printRunning(
  output: Output,
  rows: readonly RunningAgent[],
  now: Timestamp,
  canStart: boolean,
): void {
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

function placeOf({ isHere, pid, runner, node }: RunningAgent): string {
  if (!isHere) return `machine ${node}`;
  if (pid !== null) return `pid ${pid}`;
  return runner === 'never_told' ? 'starting' : runner;
}

function printLimited(output: Output, limited: readonly LimitedTask[], now: Timestamp): void {
  if (limited.length > 0) output.line(`\n${output.style('bold', `Rate limited (${limited.length})`)}`);
  for (const { task, until } of limited)
    printProse(output, `    ${task.id} is retried in ${age(now, until)}: ${shown(task.title)}`, 6);
  output.line();
}

function printAgents(output: Output, { agents, unusable, lack, started }: AgentsNow): void {
  output.line(output.style('bold', `Agents (${countText(agents.length, unusable.length)})`));
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
  if (agents.length > 0 || unusable.length > 0) return;
  if (started.length > 0)
    printProse(
      output,
      `    The running orchestrator was started with the agent ${shown(named(started))}.`,
      6,
    );
  else if (lack !== null) output.line(`    ${lack.text} Try: ${lack.command}`);
}

function countText(usable: number, unusable: number): string {
  return unusable === 0 ? String(usable) : `${usable} of ${usable + unusable} can run here`;
}

/** Which agent programs are installed, in which version, and whether they start. */
async function detect(cli: Cli, options: Options): Promise<void> {
  const { output } = cli;
  const { act, view } = await import('../../../operations/agents/detect.ts');
  const found = await withAccess(cli, act);
  if (options.json) return output.json(view(found));
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
