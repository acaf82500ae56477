import { openQuestionOf } from '../../../agents/act/answer.ts';
import { LeaseAges, observeRunning } from '../../../agents/act/observe.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import type { TaskSummary } from '../../../tasks/rules/task.ts';
import { shown } from '../../../kernel/text.ts';
import { isNothing } from '../../../kernel/usage.ts';
import { fail } from '../../failure.ts';
import type { Invocation } from '../../invocation.ts';
import { questionLine, questionView } from '../../screen/question-text.ts';
import { age, indented, times } from '../../screen/render.ts';
import { usageText } from '../../screen/usage-text.ts';
import { withLook } from '../../../compose/look.ts';

/** Who works on what, on every node, and which agents this one has. */
export async function run(invocation: Invocation<{ readonly json?: boolean }>): Promise<void> {
  const { cli, words, options } = invocation;
  const [what] = words;
  if (what === 'detect') {
    const detect = await import('./agents-detect.ts');
    await detect.run(invocation);
    return;
  }
  if (what !== undefined)
    fail('invalid', `"${what}" is not something agents can do: only detect.`, 'copse agents --help');
  await withLook(cli, async (context, unusable) => {
    const { board, clock, node } = context;
    const now = clock.now();
    const running = await observeRunning(context, new LeaseAges());
    const rows = [];
    for (const { task, attempt, held } of running) {
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
    const limited = limitedAt(await board.tasks({ statuses: ['ready'], order: 'urgent' }), now);
    const agents = context.agents.map(({ name, runtime, command, max, capabilities, sandbox, terminal }) => ({
      name,
      runtime,
      command: typeof command === 'string' ? command : (command ?? []).join(' '),
      max: max ?? null,
      capabilities,
      sandbox,
      terminal,
    }));
    if (options.json) {
      cli.output.json({
        running: rows.map((row) => ({ ...row, question: row.question ? questionView(row.question) : null })),
        limited: limited.map(({ task, until }) => ({ task: task.id, until: new Date(until).toISOString() })),
        agents,
        unusable,
      });
      return;
    }
    const { output } = cli;
    output.line(output.style('bold', `Running (${rows.length})`));
    for (const row of rows) {
      const where = row.isHere
        ? row.pid === null
          ? row.runner === 'never_told'
            ? 'starting'
            : row.runner
          : `pid ${row.pid}`
        : `node ${row.node}`;
      const state =
        row.isHere && row.runner === 'gone'
          ? output.style('red', 'its runner is gone')
          : (row.phase ?? row.runner);
      const attention =
        row.attention === null || row.question !== undefined
          ? ''
          : output.style('yellow', ` waits for you: ${row.attention}`);
      const used = row.usage === null ? '' : `, ${usageText(row.usage)}`;
      const crashes = row.crashes === 0 ? '' : `, crashed ${times(row.crashes)} before`;
      output.line(
        `${output.style('cyan', '*')} #${row.task} (${age(row.since, now)}) ${shown(row.agent)}, ${where}, ${state}${used}${crashes}${attention}`,
      );
      output.line(`      ${shown(row.title)}`);
      if (row.question !== undefined)
        output.line(output.style('yellow', indented(shown(questionLine(row.question, now)), 6)));
    }
    if (rows.length === 0) output.line('    nobody: copse orchestrate');
    if (limited.length > 0) output.line(`\n${output.style('bold', `Rate limited (${limited.length})`)}`);
    for (const { task, until } of limited)
      output.line(`    #${task.id} goes on in ${age(now, until)}: ${shown(task.title)}`);
    output.line();
    output.line(output.style('bold', `Agents (${agents.length})`));
    for (const agent of agents) {
      const limits = [
        agent.max === null ? '' : `at most ${agent.max}`,
        agent.terminal === 'tmux' ? 'in tmux' : '',
        `sandbox: ${agent.sandbox}`,
      ];
      output.line(
        `    ${shown(agent.name)}: ${shown(agent.command)} (${limits.filter((text) => text !== '').join(', ')})`,
      );
    }
    for (const { reason } of unusable) output.line(`    ${output.style('yellow', shown(reason))}`);
    if (agents.length === 0 && unusable.length === 0)
      output.line('    none in copse.yml: copse orchestrate --command "./my-agent.sh" needs none');
  });
}

/** Those whose agent hit a limit of its provider that has not lifted yet. */
function limitedAt(ready: readonly TaskSummary[], now: Timestamp) {
  return ready.flatMap((task) => {
    const delay = task.state.status === 'ready' ? task.state.delay : null;
    return delay?.because === 'rate_limit' && delay.until > now ? [{ task, until: delay.until }] : [];
  });
}
