import { withAccess } from '../../../compose/operations/access.ts';
import { nextSteps } from '../../../explain/next-steps.ts';
import { reviewCommands, reviewSummary } from '../../../explain/review.ts';
import { shown } from '../../../kernel/text.ts';
import type { Access } from '../../../operations/access.ts';
import { fail } from '../../../operations/failure.ts';
import * as approving from '../../../operations/review/approve.ts';
import * as listing from '../../../operations/review/list.ts';
import * as sendingBack from '../../../operations/review/send-back.ts';
import { act, view } from '../../../operations/review/show.ts';
import { type TaskReview, hasItsAgent } from '../../../review/act/review.ts';
import { isFinished, statusPredicate } from '../../../tasks/rules/task.ts';
import { printAhead } from '../../after/ahead.ts';
import { printSteps } from '../../after/next-steps.ts';
import { printStarted } from '../../after/task-changes.ts';
import { askText, canAsk, choose } from '../../ask.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { taskLine } from '../../screen/render.ts';
import { printReview } from '../../screen/review-text.ts';
import { printPatch } from '../workspaces/diff.ts';

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
  readonly access: Access;
  readonly options: Options;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const [task] = words;
    const answer = answerOf(options);
    const reviewing = { cli, access, options };
    if (task === undefined) return list(reviewing);
    if (answer === 'approve') return approve(reviewing, { task, head: options.head });
    if (answer !== undefined) return sendBack(reviewing, { task, comment: answer.comment });
    return show(reviewing, task);
  });
}

function answerOf({ approve: yes, sendBack: no, message }: Options) {
  const comment = typeof no === 'string' ? no : message;
  const isNo = no !== undefined || message !== undefined;
  if (yes && isNo) fail('usage', 'Give --approve or --send-back, not both.', 'copse review --help');
  if (yes) return 'approve' as const;
  return isNo ? { comment: comment ?? '' } : undefined;
}

async function list({ cli: { output }, access, options }: Reviewing): Promise<void> {
  if (answerOf(options) !== undefined || options.head !== undefined)
    fail('usage', 'No task given.', 'copse review');
  const listed = await listing.act(access);
  if (options.json) return output.json(listing.view(listed));
  const { reviews, at } = listed;
  if (reviews.length === 0) output.line('No task waits for review.');
  for (const review of reviews) {
    output.line(taskLine(review.task, output, at));
    for (const line of reviewSummary(review)) output.line(`      ${line}`);
  }
  const [first] = reviews;
  if (first) output.line(output.style('dim', `  → copse review ${first.task.id}`));
}

async function show(reviewing: Reviewing, task: string): Promise<void> {
  const { cli, access, options } = reviewing;
  const { output } = cli;
  const reviewed = await act(access, {
    task,
    command: options.command,
    maxPatchBytes: Infinity,
  });
  if (options.json) return output.json(view(reviewed));
  const { review, at } = reviewed;
  const patch = review.change?.diff.patch;
  printReview(output, review, at);
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
  await access.run(async (context) => {
    const steps =
      state.status === 'needs_attention'
        ? await nextSteps(context, review.task)
        : reviewCommands(review, { hasAgent: await hasItsAgent(context, review.task) });
    printSteps(output, steps);
  });
}

/** An approval is of exactly the commit that was shown. */
async function ask(reviewing: Reviewing, { task: { id }, change }: TaskReview): Promise<void> {
  const answer = await choose(`Approve ${id}?`, [
    { value: 'approve', label: 'Approve: it lands through the queue' },
    { value: 'back', label: 'Send back: with a comment for its agent' },
    { value: 'later', label: 'Later: change nothing' },
  ]);
  if (answer === 'approve')
    return approve(reviewing, { task: id, head: reviewing.options.head, reviewed: change?.head ?? null });
  if (answer !== 'back') return;
  const comment = await askText('What should its agent change?');
  if (comment !== undefined) await sendBack(reviewing, { task: id, comment });
}

async function approve(
  { cli, access, options: { command, json } }: Reviewing,
  input: Parameters<typeof approving.act>[1],
): Promise<void> {
  const { output } = cli;
  const approved = await approving.act(access, { ...input, command });
  if (json) return output.json(approving.view(approved));
  const { task, landing, wasQueued } = approved;
  const head = landing.head.slice(0, 10);
  const target = shown(landing.target);
  output.line(
    wasQueued
      ? `${landing.task} is already in the queue of ${target} at ${head}.`
      : `${output.style('green', 'Approved')} ${landing.task} ${shown(task?.title ?? '')}: ${head} lands on ${target} through the queue`,
  );
  if (task !== undefined) await access.run((context) => printAhead(cli, context, task), { command });
}

async function sendBack(
  { cli, access, options: { command, json } }: Reviewing,
  input: { readonly task: string; readonly comment: string },
): Promise<void> {
  const sent = await sendingBack.act(access, { ...input, command });
  if (json) return cli.output.json(sendingBack.view(sent));
  await access.run((context) => printStarted(cli, context, { ...sent, act: 'Sent back' }), { command });
}
