import { withAccess } from '../../../compose/operations/access.ts';
import { type Session, reportedPhase } from '../../../agents/rules/session/session.ts';
import { personName } from '../../../agents/rules/session/take-over.ts';
import { answerCommands, questionText } from '../../../explain/question.ts';
import { age, usageText } from '../../../explain/rules/amounts.ts';
import { oneLine, waitingClause } from '../../../explain/rules/reason.ts';
import { taskForPerson } from '../../../explain/rules/status.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { spanText } from '../../../kernel/time.ts';
import { artifactText } from '../artifacts/artifact-text.ts';
import type { Undoing } from '../../../queue/rules/undo-landing.ts';
import { formatPriority } from '../../../tasks/rules/priority.ts';
import {
  type AttentionCause,
  type Task,
  type TaskStatus,
  delayCauses,
  statusPredicate,
} from '../../../tasks/rules/task.ts';
import type { Invocation } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { cutAtWords } from '../../screen/screen.ts';
import { columnsFor, fields, indented, phaseText, taskLine } from '../../screen/render.ts';
import type { ShowFacts, ShownAttempt } from '../../../operations/overview/show-facts.ts';
import { act, view } from '../../../operations/overview/show.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const result = await act(access, { task: words[0] });
    if (options.json) cli.output.json(view(result));
    else print(cli.output, result.task, result.facts, result.at);
  });
}

function statusWord(status: TaskStatus | undefined): string {
  return status === undefined ? 'deleted' : status.replaceAll('_', ' ');
}

function undoneText(undoing: Undoing): string | null {
  if (undoing.kind === 'none') return null;
  return undoing.kind === 'undone'
    ? `by ${undoing.by}`
    : `not yet: ${undoing.by} ${statusPredicate(undoing.status)}`;
}

/** Its work item, and what there is to know about it. */
function itemText({ workItem }: Task, { item }: ShowFacts): string | null {
  if (workItem === null) return null;
  const marks = [
    item?.changedAt == null ? null : 'changed upstream',
    item?.isClosed ? 'closed upstream' : null,
    item?.by == null ? null : `asked for by ${item.by}`,
    item?.report == null ? null : `told: ${item.report.phase}`,
  ].filter((mark) => mark !== null);
  const url = workItem.url === null ? '' : ` ${workItem.url}`;
  const more = marks.length === 0 ? '' : ` (${marks.join(', ')})`;
  return shown(`${workItem.source}#${workItem.id}${url}${more}`);
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

function print(output: Output, task: Task, facts: ShowFacts, now: Timestamp): void {
  output.line(taskLine(taskForPerson(task), output, now, facts.waiting));
  const list = (values: readonly string[]) => (values.length > 0 ? values.map(shown).join(', ') : null);
  const rows = fields([
    ['priority', formatPriority(task.priority)],
    ['kind', task.kind === 'code' ? null : task.kind],
    ['depends on', list(task.dependsOn.map((id) => `${id} (${statusWord(facts.statuses.get(id))})`))],
    ['needed by', list(facts.dependants)],
    ['areas', list(task.areas)],
    ['requires', list(task.requires)],
    ['plan', task.plan],
    ['agent', agentText(task, facts)],
    ['process', processText(facts)],
    ['phase', phaseOf(facts)],
    ['worktree', worktreeText(task, facts)],
    ['machine', facts.machine && shown(facts.machine)],
    ['snapshot', snapshotText(facts, now)],
    ['not sent', facts.travelProblem && indented(shown(facts.travelProblem), 8).trimStart()],
    ['branch', branchText(facts)],
    ['landed', landedText(facts, now)],
    ['accept', list(task.accept)],
    ['item', itemText(task, facts)],
    ['waits', waitsText(task, now)],
    ['undone', undoneText(facts.undoing)],
    ['attention', facts.question || !facts.attention ? null : waitingClause(facts.attention, facts.message)],
    ['taken over', takenOverText(facts, now)],
    ['summary', facts.finish?.summary ? indented(shown(facts.finish.summary), 8).trimStart() : null],
    ['warnings', warningsText(facts.finish?.notes ?? [])],
    ['crashes', task.retries > 0 ? String(task.retries) : null],
    ['used', facts.usage && usageText(facts.usage)],
    [
      'added',
      `${age(task.createdAt, now)} ago${task.addedBy ? ` by the agent of ${task.addedBy.task}` : ''}`,
    ],
  ]);
  for (const row of rows) output.line(`    ${row}`);
  if (facts.question) {
    output.line(`\n${output.style('yellow', indented(questionText(facts.question, now), 4))}`);
    for (const command of answerCommands(facts.question)) output.line(output.style('dim', `  → ${command}`));
  }
  const asked = facts.question ? null : askedText(facts.session);
  if (asked !== null) output.line(`\n${indented(asked, 4)}`);
  if (task.body !== '') output.line(`\n${indented(shown(task.body), 4)}`);
  if (facts.attempts.length > 0) output.line(`\n${output.style('bold', 'Attempts')}`);
  facts.attempts.forEach((one, index) => {
    for (const line of attemptLines(one, index + 1, now)) output.line(cutAtWords(line, columnsFor(output)));
  });
  if (facts.ledger.length > 0) output.line(`\n${output.style('bold', 'Ledger')}`);
  for (const { kind, text, at } of facts.ledger) {
    output.line(`    ${kind} (${age(at, now)}) ${indented(shown(text), 8).trimStart()}`);
  }
  if (facts.artifacts.length > 0) output.line(`\n${output.style('bold', 'Artifacts')}`);
  // Each attempt records its results, which may be those of the one before.
  const artifacts = new Set(facts.artifacts.map(artifactText));
  for (const artifact of artifacts) output.line(`    ${artifact}`);
}

/** Null before its agent has reported one. */
function phaseOf({ session }: ShowFacts): string | null {
  const phase = session?.state.life === 'live' ? reportedPhase(session.state.phase) : null;
  return phase === null ? null : phaseText(phase);
}

/** Which agent may take it, and which one has it. */
function agentText({ agent, state }: Task, { session }: ShowFacts): string | null {
  const only = agent === null ? [] : [`only ${shown(agent)}`];
  const own = state.status === 'in_progress' ? state.claim.agent : session?.agent;
  if (own === undefined || own === agent) return agent && shown(agent);
  const isByHand = state.status === 'in_progress' && state.claim.isByHand === true;
  return [`${shown(own)}${isByHand ? ', by hand' : ''}`, ...only].join('; ');
}

function processText({ process }: ShowFacts): string | null {
  if (process === null) return null;
  const { pid, isHere, isAlive, node, nodeName } = process;
  const where = nodeName === null ? `machine ${shown(node)}` : `node ${shown(nodeName)}`;
  if (!isHere) return `${pid === null ? '' : `pid ${pid} `}on ${where}`;
  if (pid === null) return 'starting on this machine';
  return `pid ${pid} on this machine, ${isAlive ? 'alive' : 'gone: an orchestrator restarts the task'}`;
}

/** Of one that needs attention, the reason is above. */
function keptText({ state }: Task, detail: string): string {
  return state.status === 'needs_attention' ? '' : `: ${shown(oneLine(detail))}`;
}

function worktreeText(task: Task, { workspace, session }: ShowFacts): string | null {
  if (!workspace?.worktree) return null;
  const { disposition, worktree } = workspace;
  const path = shown(worktree.path);
  if (disposition.is === 'released') return `${path} (removed)`;
  if (session === undefined) return 'none: only a branch, made by copse undo';
  return disposition.is === 'kept' ? `${path} (kept${keptText(task, disposition.detail)})` : path;
}

/** What another machine could go on from. */
function snapshotText({ snapshot, landed }: ShowFacts, now: Timestamp): string | null {
  if (snapshot === null || landed !== null) return null;
  return `${snapshot.commit.slice(0, 10)} on the remote, ${age(snapshot.at, now)} old`;
}

function branchText({ workspace }: ShowFacts): string | null {
  if (!workspace?.worktree) return null;
  const { branch, baseBranch, baseCommit } = workspace.worktree;
  return `${shown(branch)}, from ${shown(baseBranch)} at ${baseCommit.slice(0, 10)}`;
}

function landedText({ landed }: ShowFacts, now: Timestamp): string | null {
  return landed && `as ${landed.commit.slice(0, 10)} on ${shown(landed.target)}, ${age(landed.at, now)} ago`;
}

function takenOverText({ takenOver }: ShowFacts, now: Timestamp): string | null {
  return takenOver && `by ${shown(personName(takenOver.person))}, ${age(takenOver.at, now)} ago`;
}

/** The last permission that the agent asked for, and the answer. */
function askedText(session: Session | undefined): string | null {
  if (!session?.question?.answer) return null;
  const { tool, what, answer } = session.question;
  const said = answer.message === null ? '' : `: ${shown(answer.message)}`;
  return `The agent asked to use ${shown(oneLine(tool))}: ${shown(oneLine(what))}\n→ ${answer.isAllowed ? 'allowed' : 'denied'}${said}`;
}

/** How an attempt ended whose work needs a person. */
const endedTexts: Readonly<Record<AttentionCause, string>> = {
  dirty: 'with uncommitted files',
  nothing_committed: 'without commits',
  no_artifact: 'without an artifact',
  not_imported: 'without the files to import',
  branch: 'with commits on another branch',
  commit_message: 'with unconventional commit messages',
  accept: 'while an accept command failed',
  conflict: 'with a conflict',
  checks: 'with failing checks',
  unfit: 'with files that some systems cannot check out',
  push: 'with work that could not be pushed',
  landing: 'with work that could not land',
  unreadable: 'with a worktree that Copse cannot read',
};

/** `1. completed after 10 min (claude, 12.3k tokens, $0.12)`, and below it the agent's words. */
function attemptLines(
  { attempt, agent, usage, needs, words, answer }: ShownAttempt,
  number: number,
  now: Timestamp,
): readonly string[] {
  const { end, startedAt } = attempt;
  const code = end?.exitCode ? `, exit code ${end.exitCode}` : '';
  const ended = needs === null ? phaseText(end?.reason ?? '') : `ended ${endedTexts[needs]}`;
  const result = end === null ? 'running for' : `${ended}${code} after`;
  const notes = [...(agent === null ? [] : [shown(agent)]), ...(usage === null ? [] : [usageText(usage)])];
  const about = notes.length === 0 ? '' : ` (${notes.join(', ')})`;
  const line = `    ${number}. ${result} ${spanText((end?.at ?? now) - startedAt)}${about}`;
  return [
    line,
    ...(words === null ? [] : [`       ${shown(oneLine(words))}`]),
    ...(answer === null ? [] : [`       answered: ${shown(oneLine(answer))}`]),
  ];
}
