/**
 * The board as the code of one repository sees it. There a queue is called `main`; on the board, which has the queues of all
 * repositories, one of another repository is `<root>:main`. Landings, queues and the leads of queues are renamed on the way
 * in and out. Those of other repositories, and their workspaces, are not seen.
 *
 * A claim and a workspace recorded through it say which repository they are in, and are refused for a task of another one.
 */

import { shellWord } from '../kernel/shell.ts';
import { type AgentName, type BranchName, type ResourceName, type TaskId, brand } from '../kernel/ids.ts';
import type { Landing } from '../queue/rules/landing.ts';
import { splitTarget, targetIn } from '../queue/rules/target-name.ts';
import { type PlacedTask, repositoryOf } from '../tasks/rules/repository.ts';
import { over } from './over.ts';
import { type Board, type BoardReader, type BoardTransaction, BoardUnavailable } from './port.ts';
import type { BoardEvent, RecordKind, Records } from './rules/event.ts';

export interface SeenFrom {
  /** The main checkout; null: the board's own repository. */
  readonly root: string | null;
  /** Where an agent works. */
  readonly rootOf: (agent: AgentName) => string | null;
}

export function boardOfRepository(board: Board, from: SeenFrom): Board {
  return over(board, {
    ...reading(board, from.root),
    transact: (work) => board.transact((transaction) => work(transactionOf(transaction, from))),
    readAtOnce: (read) => board.readAtOnce((reader) => read(over(reader, reading(reader, from.root)))),
  });
}

function transactionOf(transaction: BoardTransaction, from: SeenFrom): BoardTransaction {
  return over(transaction, {
    ...reading(transaction, from.root),
    async record(by, events) {
      for (const event of events) await refuseOtherPlace(transaction, event, from);
      const { root } = from;
      await transaction.record(by, root === null ? events : events.map((event) => recorded(event, root)));
    },
  });
}

async function refuseOtherPlace(
  board: BoardReader,
  event: BoardEvent,
  { root, rootOf }: SeenFrom,
): Promise<void> {
  const id = takenBy(event);
  const task = id && (await board.get('task', id));
  if (task && repositoryOf(task, rootOf) !== root) throw new WorkElsewhere(task, repositoryOf(task, rootOf));
}

/** The task that the event gives to a session, a worktree or a queue. */
function takenBy(event: BoardEvent): TaskId | undefined {
  switch (event.type) {
    case 'workspace.prepared':
    case 'landing.queued':
      return event.task;
    case 'task.claimed':
    case 'task.resumed':
      return event.id;
    case 'task.restarted':
    case 'task.handed_back':
      return event.grant === null ? undefined : event.id;
    default:
      return undefined;
  }
}

/** A command would work on a task in another repository than its own. */
class WorkElsewhere extends BoardUnavailable {
  constructor({ id }: PlacedTask & { readonly id: TaskId }, root: string | null) {
    super(
      `The work of ${id} is in ${root ?? "the board's own repository"}, not in this repository.`,
      root === null ? `copse show ${id}` : `cd ${shellWord(root)} # run git there`,
    );
  }
}

function reading(
  board: BoardReader,
  root: string | null,
): Pick<BoardReader, 'get' | 'list' | 'some' | 'openLandings'> {
  return {
    async get(kind, id) {
      const found = await board.get(kind, nameOnBoard(kind, id, root));
      return found && read(kind, found, root);
    },
    async list(kind, where) {
      const all = await board.list(kind, where);
      return all.flatMap((one) => read(kind, one, root) ?? []);
    },
    async some(kind, ids) {
      const names = ids.map((id) => nameOnBoard(kind, id, root));
      const found = await board.some(kind, names);
      const own = ids.flatMap((id, at) => {
        const record = found.get(names[at] ?? '');
        const seen = record && read(kind, record, root);
        return seen === undefined ? [] : [[id, seen] as const];
      });
      return new Map(own);
    },
    async openLandings() {
      return (await board.openLandings()).flatMap((one) => read('landing', one, root) ?? []);
    },
  };
}

/** Undefined for what belongs to another repository. */
function read<K extends RecordKind>(
  kind: K,
  record: Records[K],
  root: string | null,
): Records[K] | undefined {
  switch (kind) {
    case 'landing': {
      const target = branchIn((record as Landing).target, root);
      return target && { ...record, target };
    }
    case 'queue': {
      const id = branchIn((record as Records['queue']).id, root);
      return id && { ...record, id };
    }
    case 'resource': {
      const lead = QUEUE.exec((record as Records['resource']).id)?.[1];
      if (lead === undefined) return record;
      const branch = branchIn(brand(lead), root);
      return branch && { ...record, id: brand<ResourceName>(`queue:${branch}`) };
    }
    case 'workspace':
      return ((record as Records['workspace']).repository ?? null) === root ? record : undefined;
    default:
      return record;
  }
}

const QUEUE = /^queue:(.+)$/s;

function branchIn(target: BranchName, root: string | null): BranchName | undefined {
  const named = splitTarget(target);
  return named.root === root ? named.branch : undefined;
}

function nameOnBoard(kind: RecordKind, id: string, root: string | null): string {
  if (root === null) return id;
  if (kind === 'queue') return targetIn(root, brand(id));
  const lead = kind === 'resource' ? QUEUE.exec(id)?.[1] : undefined;
  return lead === undefined ? id : `queue:${targetIn(root, brand(lead))}`;
}

function recorded(event: BoardEvent, root: string): BoardEvent {
  switch (event.type) {
    case 'landing.queued':
      return { ...event, target: targetIn(root, event.target) };
    case 'queue.paused':
    case 'queue.resumed':
    case 'queue.retried':
    case 'queue.decided':
    case 'queue.stalled':
    case 'queue.moving':
      return { ...event, id: targetIn(root, event.id) };
    case 'resource.taken':
    case 'resource.released':
    case 'resource.token_raised':
      return { ...event, id: brand<ResourceName>(nameOnBoard('resource', event.id, root)) };
    case 'workspace.prepared':
    case 'task.claimed':
    case 'task.resumed':
      return { ...event, repository: root };
    case 'task.restarted':
    case 'task.handed_back':
      return event.grant === null ? event : { ...event, grant: { ...event.grant, repository: root } };
    default:
      return event;
  }
}
