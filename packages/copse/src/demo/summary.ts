/** What happened in the demo, counted from the board's events, and why no work was lost. */

import type { BoardEvent } from '../board/rules/event.ts';

export interface Summary {
  readonly tasks: number;
  readonly landed: number;
  readonly nothingToDo: number;
  readonly attempts: number;
  readonly crashes: number;
  /** Crashes with uncommitted work that was saved. */
  readonly rescued: number;
  readonly conflicts: number;
  readonly otherHandbacks: number;
  readonly questions: number;
  readonly answers: number;
  readonly durationMs: number;
}

export function summarise(events: readonly BoardEvent[]): Summary {
  const count = (isCounted: (event: BoardEvent) => boolean) => events.filter(isCounted).length;
  const first = events.find(({ type }) => type === 'task.claimed');
  const last = events.findLast(({ type }) => type === 'task.done');
  return {
    tasks: count(({ type }) => type === 'task.created'),
    landed: count((event) => event.type === 'task.done' && event.how === 'landed'),
    nothingToDo: count((event) => event.type === 'task.done' && event.how === 'no_changes'),
    attempts: count(({ type }) => type === 'attempt.started'),
    crashes: count(({ type }) => type === 'task.crashed'),
    rescued: count(
      (event) =>
        event.type === 'ledger.added' && event.kind === 'crash' && /^Saved as refs\//m.test(event.text),
    ),
    conflicts: count((event) => event.type === 'task.handed_back' && event.because === 'conflict'),
    otherHandbacks: count((event) => event.type === 'task.handed_back' && event.because !== 'conflict'),
    questions: count(({ type }) => type === 'task.stuck'),
    answers: count(({ type }) => type === 'task.restarted'),
    durationMs: first && last ? last.at - first.at : 0,
  };
}

export interface DemoLeftovers {
  readonly processes: number;
  readonly worktrees: number;
}

type Row = readonly [what: string, whySafe: string];

export function summaryRows(summary: Summary, leftovers: DemoLeftovers): readonly Row[] {
  const { landed, nothingToDo, attempts, crashes, rescued, conflicts, questions, answers } = summary;
  const rows: readonly (Row | null)[] = [
    [several(landed, 'landing'), 'each merged into the newest main, and the result checked'],
    crashes === 0
      ? null
      : [
          several(crashes, 'crash', 'crashes'),
          rescued === 0
            ? 'no uncommitted work; the task was retried'
            : 'its uncommitted work was saved, and the retry built on it',
        ],
    conflicts === 0
      ? null
      : [several(conflicts, 'conflict'), 'found before main changed; the second agent resolved it'],
    summary.otherHandbacks === 0
      ? null
      : [several(summary.otherHandbacks, 'handback'), 'the agent was told what was missing, and continued'],
    questions === 0
      ? null
      : [
          several(questions, 'question'),
          `${answers === questions ? 'answered' : `${answers} answered`} by a person, not guessed by an agent`,
        ],
    nothingToDo === 0 ? null : [`${nothingToDo} nothing to do`, 'reported by the agent, and counted as done'],
    [several(attempts, 'attempt'), 'one process each; one worktree and one branch per task'],
    [
      several(leftovers.processes + leftovers.worktrees, 'leftover'),
      leftovers.processes + leftovers.worktrees === 0
        ? 'every process has ended, and no task has a worktree'
        : `${several(leftovers.processes, 'process', 'processes')}, ${several(leftovers.worktrees, 'worktree')}`,
    ],
  ];
  return rows.filter((row) => row !== null);
}

function several(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
