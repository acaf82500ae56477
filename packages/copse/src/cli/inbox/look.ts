/** What the inbox shows of a task before it is answered. */

import { showInPager } from '../../compose/on-demand.ts';
import { fileLines, sizeText } from '../../explain/changes.ts';
import { reviewFields } from '../../explain/review.ts';
import { age } from '../../explain/rules/amounts.ts';
import type { NeedsYou } from '../../explain/rules/overview.ts';
import { isOrchestrated } from '../../compose/look.ts';
import { whyTask } from '../../explain/why.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { counted, shown } from '../../kernel/text.ts';
import type { RunContext } from '../../queue/context.ts';
import { type TaskReview, loadReview } from '../../review/act/review.ts';
import { OperationFailed } from '../../operations/failure.ts';
import type { Cli } from '../invocation.ts';
import type { Output } from '../output.ts';
import { patchForReader } from '../screen/diff-text.ts';
import { fields, indented } from '../screen/render.ts';
import { printProse, wrapped } from '../screen/screen.ts';
import { needText } from '../../explain/rules/inbox/answers.ts';

/** `cp-a1b2 asks for permission (5m, claude, unblocks 2 tasks): Rename the loader` */
export function headline(need: NeedsYou, now: Timestamp, left?: string): string {
  const { task, since, agent, unblocks, title } = need;
  const facts = [
    age(since, now),
    ...(agent === null ? [] : [shown(agent)]),
    ...(unblocks === 0 ? [] : [`unblocks ${counted(unblocks, 'task')}`]),
    ...(left === undefined ? [] : [left]),
  ];
  return `${task} ${needText(need)} (${facts.join(', ')}): ${shown(title)}`;
}

interface Around {
  readonly review: TaskReview | undefined;
  /** How many are left, this one included. */
  readonly open: number;
  readonly now: Timestamp;
}

/** As many lines as fit on the screen with the keys below. */
export function needLines(output: Output, need: NeedsYou, { review, open, now }: Around): readonly string[] {
  const left = open === 1 ? 'the last one' : `${open} left`;
  const head = broken(output, headline(need, now, left)).map((line) => output.style('bold', line));
  const about = review === undefined ? shown(need.details).split('\n') : reviewLines(review);
  const details = about.flatMap((line) => broken(output, `    ${line}`));
  const room = Math.max(FEWEST_LINES, output.rows() - AROUND);
  const more = details.length - room;
  if (more <= 0) return [...head, ...details];
  return [...head, ...details.slice(0, room - 1), `    … and ${more + 1} more lines (w shows all)`];
}

/** Between words, to the width of the terminal. */
export function broken(output: Output, line: string): readonly string[] {
  return wrapped(line, output.columns() - 1, 4);
}

const FEWEST_LINES = 5;
/** Lines for the head, the keys and the prompt. */
const AROUND = 6;

function reviewLines(review: TaskReview): readonly string[] {
  const { change } = review;
  return [
    ...fields(reviewFields(review)),
    ...(change === null ? [] : [sizeText(change.diff), ...fileLines(change.diff.files)]),
  ];
}

interface LookedAt {
  readonly cli: Cli;
  readonly context: RunContext;
  readonly need: NeedsYou;
  readonly review: TaskReview | undefined;
}

/** True when the key was one of these: it changed nothing. */
export async function lookAt(key: string, options: LookedAt): Promise<boolean> {
  switch (key.toLowerCase()) {
    case 'd':
      await showDiff(options);
      return true;
    case 'l':
      await showLogs(options);
      return true;
    case 'w':
      await showWhy(options);
      return true;
    default:
      return false;
  }
}

async function showDiff({ cli, context, need, review }: LookedAt): Promise<void> {
  const looked = review === undefined ? await loadReview(context, need.task) : undefined;
  const change = (review ?? (looked?.kind === 'done' ? looked.value : undefined))?.change ?? null;
  const patch = change?.diff.patch;
  if (patch === undefined || patch.length === 0) {
    cli.output.line(`${need.task} has no commits to show here.`);
    return;
  }
  const text = patchForReader(patch, cli.output);
  if (!(await showInPager(text.toString(), cli))) await cli.output.raw(text);
}

const LOG_LINES = '40';

async function showLogs({ cli, need }: LookedAt): Promise<void> {
  const { showLog } = await import('../commands/agents/logs.ts');
  try {
    await showLog(cli, need.task, { lines: LOG_LINES });
  } catch (error) {
    if (!(error instanceof OperationFailed)) throw error;
    cli.output.line(shown(error.failure.reason));
  }
}

async function showWhy({ cli, context, need }: LookedAt): Promise<void> {
  const why = await whyTask(context, need.task, { isOrchestrated: await isOrchestrated(cli) });
  const because = why.kind === 'done' ? why.value.because : [why.refusal.reason];
  for (const line of because) printProse(cli.output, indented(shown(line), 4));
}
