import { waitText } from '../../../explain/rules/queue.ts';
import { openQuestionOf } from '../../../agents/act/answer.ts';
import type { Context } from '../../../board/context.ts';
import { undoingOf } from '../../../queue/act/undoing.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import { formatPriority } from '../../../tasks/rules/priority.ts';
import { type Task, type TaskStatus, delayCauses, statusPredicate } from '../../../tasks/rules/task.ts';
import { shown } from '../../../kernel/text.ts';
import type { Undoing } from '../../../queue/rules/undo-landing.ts';
import { type Usage, addUsage, isNothing, noUsage } from '../../../kernel/usage.ts';
import { artifactView, ledgerView, taskView } from '../../../operations/views/views.ts';
import { fail } from '../../failure.ts';
import type { Output } from '../../output.ts';
import type { Invocation } from '../../invocation.ts';
import { answerCommands, questionText, questionView } from '../../../explain/question.ts';
import { age, usageText } from '../../../explain/rules/amounts.ts';
import { fields, indented, taskLine } from '../../screen/render.ts';
import { requireTaskId, withBoard } from '../../with-board.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withBoard(cli, async (context) => {
    const id = await requireTaskId(context.board, words[0] ?? '');
    const task = await context.board.get('task', id);
    if (task === undefined) fail('not_found', `${id} was just deleted.`, 'copse list');
    const facts = await load(context, task);
    if (options.json) {
      cli.output.json({
        ...taskView(task, facts.waiting),
        attention: facts.attention,
        question: facts.question ? questionView(facts.question) : null,
        usage: facts.usage,
        summary: facts.finish?.summary ?? null,
        warnings: facts.finish?.notes ?? [],
        undone: undoneView(facts.undoing),
        dependants: facts.dependants,
        ledger: facts.ledger.map(ledgerView),
        artifacts: facts.artifacts.map(artifactView),
      });
    } else {
      print(cli.output, task, facts, context.clock.now());
    }
  });
}

type Facts = Awaited<ReturnType<typeof load>>;

async function load({ board }: Context, task: Task) {
  const { id, dependsOn, state } = task;
  const landing = state.status === 'landing' ? await board.get('landing', state.landing) : undefined;
  const sessions = await board.list('session', { task: id });
  const last = sessions.at(-1);
  return {
    // Over all its sessions; null when no agent reported usage.
    usage: usageOf(sessions),
    attention: last?.state.life === 'live' ? last.state.attention : null,
    question: await openQuestionOf(board, task),
    finish: last?.finish,
    waiting: landing?.waiting ? waitText(landing.waiting) : null,
    undoing: await undoingOf(board, id),
    dependants: await board.dependants(id),
    statuses: await board.statuses(dependsOn),
    ledger: await board.list('ledger', { task: id }),
    artifacts: await board.list('artifact', { task: id }),
  };
}

function statusWord(status: TaskStatus | undefined): string {
  return status === undefined ? 'deleted' : status.replaceAll('_', ' ');
}

function usageOf(sessions: readonly { readonly usage: Usage }[]): Usage | null {
  const usage = sessions.map((session) => session.usage).reduce(addUsage, noUsage);
  return isNothing(usage) ? null : usage;
}

function undoneView(undoing: Undoing) {
  if (undoing.kind === 'none') return null;
  const { kind: is, ...details } = undoing;
  return { is, ...details };
}

function undoneText(undoing: Undoing): string | null {
  if (undoing.kind === 'none') return null;
  return undoing.kind === 'undone'
    ? `by ${undoing.by}`
    : `not yet: ${undoing.by} ${statusPredicate(undoing.status)}`;
}

function warningsText(notes: readonly string[]): string | null {
  return notes.length === 0 ? null : indented(notes.map(shown).join('\n'), 8).trimStart();
}

/** Until when a ready task does not start, and why. */
function waitsText({ state }: Task, now: Timestamp): string | null {
  const delay = state.status === 'ready' ? state.delay : null;
  if (delay === null || delay.until <= now) return null;
  return `${age(now, delay.until)} more, because ${delayCauses[delay.because]}`;
}

function print(output: Output, task: Task, facts: Facts, now: Timestamp): void {
  output.line(taskLine(task, output, now, facts.waiting));
  const list = (values: readonly string[]) => (values.length > 0 ? values.map(shown).join(', ') : null);
  const rows = fields([
    ['priority', formatPriority(task.priority)],
    ['kind', task.kind === 'code' ? null : task.kind],
    ['depends on', list(task.dependsOn.map((id) => `${id} (${statusWord(facts.statuses.get(id))})`))],
    ['needed by', list(facts.dependants)],
    ['areas', list(task.areas)],
    ['requires', list(task.requires)],
    ['plan', task.plan],
    ['agent', task.agent && shown(task.agent)],
    ['accept', list(task.accept)],
    ['waits', waitsText(task, now)],
    ['undone', undoneText(facts.undoing)],
    ['attention', facts.question ? null : facts.attention],
    ['summary', facts.finish?.summary ? indented(shown(facts.finish.summary), 8).trimStart() : null],
    ['warnings', warningsText(facts.finish?.notes ?? [])],
    ['crashes', task.retries > 0 ? String(task.retries) : null],
    ['used', facts.usage && usageText(facts.usage)],
    ['added', `${age(task.createdAt, now)} ago`],
  ]);
  for (const row of rows) output.line(`    ${row}`);
  if (facts.question) {
    output.line(`\n${output.style('yellow', indented(questionText(facts.question, now), 4))}`);
    for (const command of answerCommands(task.id)) output.line(output.style('dim', `  → ${command}`));
  }
  if (task.body !== '') output.line(`\n${indented(shown(task.body), 4)}`);
  if (facts.ledger.length > 0) output.line(`\n${output.style('bold', 'Ledger')}`);
  for (const { kind, text, at } of facts.ledger) {
    output.line(`    ${kind} (${age(at, now)}) ${indented(shown(text), 8).trimStart()}`);
  }
  if (facts.artifacts.length > 0) output.line(`\n${output.style('bold', 'Artifacts')}`);
  for (const { kind, address } of facts.artifacts) output.line(`    ${kind} ${shown(address)}`);
}
