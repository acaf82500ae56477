import { isUtf8 } from 'node:buffer';

import { type TaskReview, approve, listReviews, loadReview, sendBack } from '../../../review/act/review.ts';
import type { RunContext } from '../../../queue/context.ts';
import { reviewCommands, reviewSummary } from '../../../explain/review.ts';
import { printPatch } from '../workspaces/diff.ts';
import type { OpenRun } from '../../../compose/run/run.ts';
import type { CommitId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { approvedView, reviewView } from '../../../operations/views/review-views.ts';
import { isFinished, statusPredicate } from '../../../tasks/rules/task.ts';
import { askText, canAsk, choose } from '../../ask.ts';
import { startedView } from '../../../operations/tasks/views.ts';
import { printStarted } from '../../after/task-changes.ts';
import { fail, orFail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { printAhead } from '../../after/ahead.ts';
import { taskLine } from '../../screen/render.ts';
import { printReview } from '../../screen/review-text.ts';
import { requireTaskId } from '../../../operations/find.ts';
import { contextOfAll } from '../../../operations/access.ts';
import { withRun } from '../../with-run.ts';
import { printSteps } from '../../after/next-steps.ts';

interface Options {
  readonly approve?: boolean;
  readonly head?: string;
  /** True when given without a comment. */
  readonly sendBack?: string | true;
  readonly message?: string;
  readonly command?: string;
  readonly stat?: boolean;
  readonly json?: boolean;
}

interface Reviewing {
  readonly cli: Cli;
  readonly context: RunContext;
  readonly unusable: OpenRun['unusable'];
  readonly options: Options;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withRun(cli, { command: options.command }, async (run, unusable) => {
    const [word] = words;
    if (word === undefined) return list(cli, run, options);
    const id = await requireTaskId(run.board, word);
    const context = await contextOfAll(run, [id]);
    const review = orFail(await loadReview(context, id));
    const reviewing = { cli, context, unusable, options };
    const answer = answerOf(options);
    if (answer === 'approve') return approveShown(reviewing, review);
    if (answer !== undefined) return back(reviewing, review, answer.comment);
    return show(reviewing, review);
  });
}

function answerOf({ approve: yes, sendBack: no, message }: Options) {
  const comment = typeof no === 'string' ? no : message;
  const isNo = no !== undefined || message !== undefined;
  if (yes && isNo) fail('usage', 'Give --approve or --send-back, not both.', 'copse review --help');
  if (yes) return 'approve' as const;
  return isNo ? { comment: comment ?? '' } : undefined;
}

async function list({ output }: Cli, context: RunContext, options: Options): Promise<void> {
  if (answerOf(options) !== undefined || options.head !== undefined)
    fail('usage', 'No task given.', 'copse review');
  const reviews = await listReviews(context);
  if (options.json) {
    output.json({ reviews: reviews.map((review) => reviewView(review)) });
    return;
  }
  if (reviews.length === 0) output.line('No task waits for review.');
  const now = context.clock.now();
  for (const review of reviews) {
    output.line(taskLine(review.task, output, now));
    for (const line of reviewSummary(review)) output.line(`      ${line}`);
  }
  const [first] = reviews;
  if (first) output.line(output.style('dim', `  → copse review ${first.task.id}`));
}

async function show(reviewing: Reviewing, review: TaskReview): Promise<void> {
  const { cli, context, options } = reviewing;
  const { output } = cli;
  const patch = review.change?.diff.patch;
  if (options.json) {
    output.json(reviewView(review, patch && isUtf8(patch) ? patch.toString() : null));
    return;
  }
  printReview(output, review, context.clock.now());
  if (patch !== undefined && !options.stat) {
    output.line();
    await printPatch(cli, patch);
  }
  const { id, state } = review.task;
  if (state.status !== 'in_review' && state.status !== 'needs_attention') {
    const lead =
      isFinished(state.status) || state.status === 'landing' ? 'No review is open' : 'Nothing to review yet';
    output.line(`    ${lead}: it ${statusPredicate(state.status)}.`);
    output.line(output.style('dim', `  → copse why ${id}`));
    return;
  }
  if (canAsk(cli, options)) return ask(reviewing, review);
  printSteps(output, reviewCommands(review));
}

async function ask(reviewing: Reviewing, review: TaskReview): Promise<void> {
  const { id } = review.task;
  const answer = await choose(`Approve ${id}?`, [
    { value: 'approve', label: 'Approve: it lands through the queue' },
    { value: 'back', label: 'Send back: with a comment for its agent' },
    { value: 'later', label: 'Later: change nothing' },
  ]);
  if (answer === 'approve') return approveShown(reviewing, review);
  if (answer !== 'back') return;
  const comment = await askText('What should its agent change?');
  if (comment !== undefined) await back(reviewing, review, comment);
}

/** Approves exactly the commit that was shown. */
async function approveShown(
  { cli, context, options }: Reviewing,
  { task, change }: TaskReview,
): Promise<void> {
  const { output } = cli;
  const head = change?.head ?? null;
  if (options.head !== undefined) requireSame(options.head, head, task.id);
  const { landing, wasQueued } = orFail(await approve(context, task.id, head));
  if (options.json) {
    output.json(approvedView(task.id, landing));
    return;
  }
  const word = wasQueued ? 'Already in the queue' : 'Approved';
  const where = `${landing.head.slice(0, 10)} lands on ${shown(landing.target)} through the queue`;
  output.line(`${output.style('green', word)} ${task.id} ${shown(task.title)}: ${where}`);
  const queued = await context.board.get('task', task.id);
  if (queued) await printAhead(cli, context, queued);
}

function requireSame(wanted: string, head: CommitId | null, id: string): void {
  if (!/^[0-9a-f]{7,64}$/i.test(wanted))
    fail('invalid', `--head must be a commit id, not "${shown(wanted)}".`, `copse review ${id}`);
  if (head?.startsWith(wanted.toLowerCase())) return;
  const now = head === null ? 'it is not in this repository' : `it is at ${head.slice(0, 10)}`;
  fail('wrong_status', `The branch of ${id} is no longer at ${wanted}: ${now}.`, `copse review ${id}`);
}

async function back({ cli, context, unusable, options }: Reviewing, { task }: TaskReview, comment: string) {
  const sent = orFail(await sendBack(context, task.id, comment, unusable));
  if (options.json) cli.output.json(startedView(sent));
  else await printStarted(cli, context, { ...sent, act: 'Sent back' });
}
