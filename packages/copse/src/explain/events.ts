/** What happened, one line for each event. Events that only programs use have no line. */

import type { BoardReader } from '../board/port.ts';
import type { BoardEvent } from '../board/rules/event.ts';
import type { NodeId, TaskId, Timestamp } from '../kernel/ids.ts';
import { type PullRequest, summarise } from '../review/rules/pull-request.ts';
import { describeEscape } from '../workspaces/rules/escape.ts';
import { spanText } from '../kernel/time.ts';
import { stalledText, waitText } from './rules/queue.ts';
import {
  attentionText,
  delayText,
  doneText,
  failedText,
  firstLine,
  resolvedByText,
  statusTexts,
  stuckClause,
} from './rules/status.ts';
import { readWaitReason } from '../queue/rules/wait-reason.ts';
import { waitingClause } from './rules/reason.ts';

/** How much a line matters; the screen chooses a colour for it. */
export type Tone = 'plain' | 'progress' | 'good' | 'waiting' | 'bad' | 'faint';

export interface EventLine {
  readonly word: string;
  readonly tone: Tone;
  /** Null when it is about a whole queue. */
  readonly task: TaskId | null;
  readonly text: string;
}

export async function describeEvent(event: BoardEvent, board: BoardReader): Promise<EventLine | undefined> {
  const titleOf = async (id: TaskId) => (await board.get('task', id))?.title ?? '';
  const nodeName = async (id: NodeId) => `node ${(await board.get('node', id))?.name ?? id}`;
  const taskOf = async (kind: 'landing' | 'workspace' | 'session', id: string) =>
    (await board.get(kind, id))?.task;
  const line = (word: string, tone: Tone, task: TaskId | null, text: string): EventLine => ({
    word,
    tone,
    task,
    text,
  });
  switch (event.type) {
    case 'task.claimed':
      return line('started', 'progress', event.id, `${await titleOf(event.id)} (${event.claim.agent})`);
    case 'task.resumed':
      return line('resumed', 'progress', event.id, `${await titleOf(event.id)} (${event.claim.agent})`);
    case 'task.restarted':
      return line('restarted', 'progress', event.id, await titleOf(event.id));
    case 'task.promoted':
      return line('ready', 'plain', event.id, `${await titleOf(event.id)}: its dependencies are done`);
    case 'task.handed_back':
      return line('handed back', 'waiting', event.id, attentionText(event));
    case 'task.crashed': {
      const { delay, retries } = event;
      const error = firstLine(event.reason);
      if (delay === null) return line('failed', 'bad', event.id, failedText(retries, error));
      return line('crashed', 'waiting', event.id, `${error}; retry in ${spanText(delay.until - event.at)}`);
    }
    case 'task.parked':
      return line('postponed', 'waiting', event.id, delayText(event));
    case 'task.stuck':
      return line('stuck', 'bad', event.id, `${stuckClause(event)}: ${firstLine(event.reason)}`);
    case 'task.failed':
      return line('failed', 'bad', event.id, firstLine(event.reason));
    case 'session.completed': {
      const [note, ...others] = event.notes ?? [];
      const task = note === undefined ? undefined : await taskOf('session', event.id);
      const more = others.length === 0 ? '' : ` (${others.length} more: copse why ${task})`;
      return task && line('warning', 'waiting', task, `${opening(note ?? '')}${more}`);
    }
    case 'task.needs_attention':
      if (event.resolver !== undefined)
        return line('waits', 'waiting', event.id, resolvedByText(event.resolver));
      return line('needs you', 'bad', event.id, attentionText(event));
    case 'task.sent_to_review':
      if (event.pullRequest === null)
        return line('review', 'waiting', event.id, `${statusTexts.in_review}: copse review ${event.id}`);
      return event.pullRequest.is === 'wanted'
        ? line('finished', 'progress', event.id, 'queued to be pushed')
        : line('review', 'waiting', event.id, firstLine(summarise(event.pullRequest)));
    case 'task.pull_request_changed': {
      const [word, tone] = pullRequestWords[event.pullRequest.is];
      return line(word, tone, event.id, firstLine(summarise(event.pullRequest)));
    }
    case 'task.queued':
      return line('finished', 'progress', event.id, 'queued to land');
    case 'task.done':
      return line('done', 'good', event.id, doneText(event));
    case 'task.moved':
      return event.to === null
        ? line('moved', 'plain', event.id, 'any node may take it again')
        : line('moved', 'waiting', event.id, `node ${event.to.name} takes it next`);
    case 'node.drained':
      return line(
        'draining',
        'waiting',
        null,
        `${await nodeName(event.id)}, within ${spanText(event.withinMs)}`,
      );
    case 'node.resumed':
      return line('resumed', 'plain', null, `${await nodeName(event.id)} takes work again`);
    case 'node.left':
      return line('left', 'plain', null, await nodeName(event.id));
    case 'task.paused':
      return line('paused', 'waiting', event.id, 'by a person');
    case 'task.cancelled':
      return line('cancelled', 'faint', event.id, event.reason ?? '');
    case 'landing.waiting': {
      const task = await taskOf('landing', event.id);
      return task && line('waits', 'waiting', task, firstLine(waitText(event.reason)));
    }
    case 'landing.hurried': {
      const task = await taskOf('landing', event.id);
      return task && line('hotfix', 'waiting', task, 'goes to the front of the queue');
    }
    case 'landing.checks_skipped': {
      const task = await taskOf('landing', event.id);
      return task && line('unchecked', 'bad', task, 'lands without checks, as a person asked');
    }
    case 'landing.withdrawn': {
      const task = await taskOf('landing', event.id);
      return task && line('withdrawn', 'waiting', task, `left the queue: ${firstLine(event.reason)}`);
    }
    case 'queue.paused': {
      const what = event.what === 'accept' ? 'accepts no more tasks' : 'lands nothing';
      const why = event.reason === null ? '' : `: ${firstLine(event.reason)}`;
      return line('paused', 'waiting', null, `the queue of ${event.id} ${what}${why}`);
    }
    case 'queue.resumed': {
      const what = event.what === 'accept' ? 'accepts tasks' : 'lands';
      return line('resumed', 'progress', null, `the queue of ${event.id} ${what} again`);
    }
    case 'queue.retried':
      return line('retry', 'progress', null, `the queue of ${event.id} runs its checks again now`);
    case 'queue.stalled':
      // A pause has a line of its own.
      if (readWaitReason(event.reason).kind === 'paused') return undefined;
      return line('stalled', 'bad', null, stalledText(event, ''));
    case 'queue.moving':
      return line('moving', 'progress', null, `the queue of ${event.id} moves again`);
    case 'workspace.escaped': {
      const task = await taskOf('workspace', event.id);
      const tasks = await Promise.all(event.running.map((one) => taskOf('session', one)));
      const known = tasks.filter((one) => one !== undefined);
      if (task === undefined || (await firstWithEscape(board, known, event.at)) !== task) return undefined;
      const move =
        event.paths.length === 0 ? '' : ` To move the change into its worktree: copse rescue move ${task}`;
      return line('warning', 'bad', task, `${describeEscape(event, known)}${move}`);
    }
    case 'session.attention': {
      const task = event.attention && (await taskOf('session', event.id));
      if (!event.attention || !task) return undefined;
      return line('asks', 'waiting', task, waitingClause(event.attention, event.message));
    }
    case 'session.asked': {
      const task = await taskOf('session', event.id);
      const { tool, what } = event.question;
      return (
        task &&
        line('asks', 'waiting', task, `to use ${firstLine(tool)}: ${firstLine(what)} → copse answer ${task}`)
      );
    }
    default:
      return undefined;
  }
}

const pullRequestWords: Readonly<Record<PullRequest['is'], readonly [word: string, tone: Tone]>> = {
  wanted: ['waits', 'waiting'],
  given_up: ['needs you', 'bad'],
  pushed: ['pushed', 'waiting'],
  open: ['review', 'waiting'],
  closed: ['needs you', 'bad'],
};

/** An escape is recorded for every task that was running; only the first of them gets a line. */
async function firstWithEscape(
  board: BoardReader,
  tasks: readonly TaskId[],
  at: Timestamp,
): Promise<TaskId | undefined> {
  for (const task of tasks) {
    const workspaces = await board.list('workspace', { task });
    if (workspaces.some(({ escape }) => escape !== undefined && escape.at >= at)) return task;
  }
  return undefined;
}

/** The first line, and the first of the list that it announces. */
function opening(text: string): string {
  const [first = '', second] = text.split('\n', 2);
  return first.endsWith(':') && second !== undefined ? `${first} ${second.trim()}` : firstLine(text);
}
