/** What happened to tasks, one line each, for whoever watches. What is only of use to programs has no line. */

import { waitText } from '../../explain/rules/queue.ts';
import { describeEscape } from '../../workspaces/rules/escape.ts';
import type { BoardEvent } from '../../board/rules/event.ts';
import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import { type PullRequest, summarise } from '../../review/rules/pull-request.ts';
import { shown } from '../../kernel/text.ts';
import type { BoardReader } from '../../board/port.ts';
import type { Output } from '../output.ts';

type Style = Parameters<Output['style']>[0];

interface Line {
  readonly word: string;
  readonly style: Style;
  /** Null when it is about a whole queue. */
  readonly task: TaskId | null;
  readonly text: string;
}

/** As wide as the longest word. */
const WORD_WIDTH = 11;

export async function eventLine(
  event: BoardEvent,
  board: BoardReader,
  output: Output,
): Promise<string | undefined> {
  const line = await describe(event, board);
  if (line === undefined) return undefined;
  const { word, style, task, text } = line;
  const about = task === null ? '' : `#${task} `;
  return `${output.style(style, word.padEnd(WORD_WIDTH))} ${about}${shown(text)}`.trimEnd();
}

async function describe(event: BoardEvent, board: BoardReader): Promise<Line | undefined> {
  const titleOf = async (id: TaskId) => (await board.get('task', id))?.title ?? '';
  const taskOf = async (kind: 'landing' | 'workspace' | 'session', id: string) =>
    (await board.get(kind, id))?.task;
  const line = (word: string, style: Style, task: TaskId | null, text: string): Line => ({
    word,
    style,
    task,
    text,
  });
  switch (event.type) {
    case 'task.claimed':
      return line('started', 'cyan', event.id, `${await titleOf(event.id)} (${event.claim.agent})`);
    case 'task.resumed':
      return line('resumed', 'cyan', event.id, `${await titleOf(event.id)} (${event.claim.agent})`);
    case 'task.restarted':
      return line('restarted', 'cyan', event.id, await titleOf(event.id));
    case 'task.promoted':
      return line('ready', 'reset', event.id, `${await titleOf(event.id)}: what it waited for is done`);
    case 'task.handed_back':
      return line(
        'handed back',
        'yellow',
        event.id,
        `${event.because.replaceAll('_', ' ')}: ${firstLine(event.reason)}`,
      );
    case 'task.crashed':
      return event.delay === null
        ? line('failed', 'red', event.id, `${firstLine(event.reason)}; no retry is left`)
        : line(
            'crashed',
            'yellow',
            event.id,
            `${firstLine(event.reason)}; its work is kept and it is tried again`,
          );
    case 'task.parked':
      return line(
        'parked',
        'yellow',
        event.id,
        event.because === 'taken' ? 'its branch is in use elsewhere' : 'its agent hit a rate limit',
      );
    case 'task.stuck':
      return line('stuck', 'red', event.id, `asks: ${firstLine(event.reason)}`);
    case 'task.needs_attention':
      return line('needs you', 'red', event.id, firstLine(event.reason));
    case 'task.sent_to_review':
      if (event.pullRequest === null)
        return line('review', 'yellow', event.id, 'is finished and waits for you: copse review');
      return event.pullRequest.is === 'wanted'
        ? line('finished', 'cyan', event.id, 'and is about to be pushed')
        : line('review', 'yellow', event.id, firstLine(summarise(event.pullRequest)));
    case 'task.pull_request_changed': {
      const [word, style] = pullRequestWords[event.pullRequest.is];
      return line(word, style, event.id, firstLine(summarise(event.pullRequest)));
    }
    case 'task.queued':
      return line('finished', 'cyan', event.id, 'and is about to land');
    case 'task.done':
      return line('done', 'green', event.id, doneText(event));
    case 'landing.waiting': {
      const task = await taskOf('landing', event.id);
      return task && line('waits', 'yellow', task, firstLine(waitText(event.reason)));
    }
    case 'landing.hurried': {
      const task = await taskOf('landing', event.id);
      return task && line('hotfix', 'yellow', task, 'goes to the front and is checked alone');
    }
    case 'landing.checks_skipped': {
      const task = await taskOf('landing', event.id);
      return task && line('unchecked', 'red', task, 'lands without checks: a person answers for it');
    }
    case 'landing.withdrawn': {
      const task = await taskOf('landing', event.id);
      return task && line('withdrawn', 'yellow', task, `left the queue: ${firstLine(event.reason)}`);
    }
    case 'queue.paused': {
      const what = event.what === 'accept' ? 'accepts nothing more' : 'lands nothing';
      const why = event.reason === null ? '' : `: ${firstLine(event.reason)}`;
      return line('paused', 'yellow', null, `the queue of ${event.id} ${what}${why}`);
    }
    case 'queue.resumed': {
      const what = event.what === 'accept' ? 'accepts' : 'lands';
      return line('resumed', 'cyan', null, `the queue of ${event.id} ${what} again`);
    }
    case 'queue.retried':
      return line('again', 'cyan', null, `the queue of ${event.id} tries its checks at once`);
    case 'queue.stalled':
      return line('stalled', 'red', null, `the queue of ${event.id}: ${firstLine(waitText(event.reason))}`);
    case 'queue.moving':
      return line('moving', 'cyan', null, `the queue of ${event.id} moves again`);
    case 'workspace.escaped': {
      const task = await taskOf('workspace', event.id);
      const tasks = await Promise.all(event.running.map((one) => taskOf('session', one)));
      const known = tasks.filter((one) => one !== undefined);
      if (task === undefined || (await firstWithEscape(board, known, event.at)) !== task) return undefined;
      return line('escaped', 'red', task, `${describeEscape(event, known)} copse rescue move ${task}`);
    }
    case 'session.attention': {
      const task = event.attention && (await taskOf('session', event.id));
      const what = event.message ? `${event.attention}: ${firstLine(event.message)}` : event.attention;
      return task ? line('asks', 'yellow', task, `waits for a person: ${what}`) : undefined;
    }
    case 'session.asked': {
      const task = await taskOf('session', event.id);
      const { tool, what } = event.question;
      return (
        task && line('asks', 'yellow', task, `may it use ${tool}? ${firstLine(what)} copse answer ${task}`)
      );
    }
    case 'task.paused':
      return line('paused', 'yellow', event.id, '');
    case 'task.cancelled':
      return line('cancelled', 'dim', event.id, event.reason ?? '');
    default:
      return undefined;
  }
}

const pullRequestWords: Readonly<Record<PullRequest['is'], readonly [word: string, style: Style]>> = {
  wanted: ['waits', 'yellow'],
  given_up: ['needs you', 'red'],
  pushed: ['pushed', 'yellow'],
  open: ['review', 'yellow'],
  closed: ['needs you', 'red'],
};

/** An escape is on the record of everybody who was running and had a workspace by then; the first of them tells it. */
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

function doneText({ how, commit }: Extract<BoardEvent, { type: 'task.done' }>): string {
  switch (how) {
    case 'landed':
      return `landed as ${commit?.slice(0, 10) ?? 'it was'}`;
    case 'no_changes':
      return 'there was nothing to do';
    case 'as_it_is':
      return 'as it is, on its branch';
    case 'pull_request':
      return 'its pull request was merged';
    case 'artifacts':
      return 'there is no code to land';
    default:
      throw new Error(`Nothing is done ${String(how satisfies never)}`);
  }
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/[:;.]$/, '');
}
