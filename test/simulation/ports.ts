/** The ports of one process, each call of which is an action in the world. */

import type { RunContext } from '../../packages/copse/src/queue/context.ts';
import type { Author, RecordedEvent } from '../../packages/copse/src/board/rules/event.ts';
import type { AttemptId, CommitId, NodeId, TaskId } from '../../packages/copse/src/kernel/ids.ts';
import type { ProcessIdentity } from '../../packages/copse/src/kernel/process.ts';
import type { Policy } from '../../packages/copse/src/kernel/policy.ts';
import type { Board } from '../../packages/copse/src/board/port.ts';
import type { Orders } from '../../packages/copse/src/agents/ports/runners.ts';
import type { FurnishReport } from '../../packages/copse/src/workspaces/ports/furnishing.ts';
import type { Git, RefMove, Rescues } from '../../packages/copse/src/git/port.ts';
import type { Merging } from '../../packages/copse/src/queue/ports/merging.ts';
import type { Ended, Occupancy } from '../../packages/copse/src/processes/ports/occupancy.ts';
import type { Radar } from '../../packages/copse/src/radar/port.ts';
import type { Trash, TrashEntry } from '../../packages/copse/src/workspaces/ports/trash.ts';
import type { EffectiveAgent } from '../../packages/copse/src/config/effective.ts';
import type { Config } from '../../packages/copse/src/config/schema.ts';
import { boardOn } from './memory-board.ts';
import type { MemoryStore } from './memory-store.ts';
import { type SimNode, type SimTrashEntry, TARGET } from './node.ts';
import { summaryOf } from './repository.ts';
import type { Process, World } from './world.ts';

/** What every process of a simulation can reach. */
export interface Surroundings {
  readonly world: World;
  readonly store: MemoryStore;
  readonly nodes: ReadonlyMap<string, SimNode>;
  readonly policy: Policy;
  readonly config: Config;
  readonly agents: readonly EffectiveAgent[];
  readonly wakers: Set<{ readonly process: Process; readonly wake: () => void }>;
  readonly reports: Map<string, ReportFile>;
  readonly isBoardAway: boolean;
  startRunner(node: SimNode, orders: Orders): Process;
  /** A process changed something that is not its own alone. */
  readonly changed: (process: Process, what: string) => void;
  readonly committed: (process: Process, events: readonly RecordedEvent[]) => void;
  readonly renewed: (process: Process, task: TaskId, token: number, isRenewed: boolean) => void;
  /** A folder is about to go to the trash. */
  readonly trashed: (node: SimNode, path: string) => void;
}

export interface ReportFile {
  text: string;
  readonly watchers: Set<() => void>;
}

export function contextFor(of: Surroundings, node: SimNode, process: Process, by: Author): RunContext {
  const { world, policy, config, agents } = of;
  const call = <T>(name: string, effect: () => T | Promise<T>): Promise<T> =>
    world.call(process, name, effect);
  const clock = world.clockOf(process);
  const processes = processPorts(of, node, process);
  return {
    board: boardFor(of, process),
    clock,
    random: world.random,
    policy,
    by,
    pid: process.pid,
    git: gitFor(of, node, process),
    rescues: rescuesFor(node, call),
    trash: trashFor(of, node, process),
    merging: mergingFor(of, node, process),
    resolving: {
      resolve: unused,
      mayResolve: () => call('may resolve', () => false),
      tried: () => [],
      otherSide: () => call('other side', () => []),
      learn: () => call('learn', () => []),
    },
    radar: NO_RADAR,
    forge: { push: unused, open: unused, look: unused },
    checks: { environmentOf: () => 'simulated', run: unused, recover: unused },
    ...processes,
    pool: { list: () => [], take: unused, refill: unused, recycle: unused },
    sync: { bring: unused, settle: unused },
    diffs: {
      compare: () => call('diff', () => ({ files: [], inserted: 0, deleted: 0, patch: Buffer.alloc(0) })),
    },
    checkout: { look: unused, move: unused },
    furnishing: {
      furnish: () => call('furnish', () => FURNISHED),
      dismantle: () => call('dismantle', () => ({ kind: 'done', ran: 0 }) as const),
      startOver: () => {},
    },
    portProbe: { isFree: () => call('probe a port', () => true) },
    disk: { freeBytes: () => call('free disk', () => 1e12) },
    machine: { freeMemoryBytes: () => null },
    commands: {
      run: ({ commands, folder }) =>
        call('run commands', () => {
          const [command = ''] = commands;
          if (!world.chance(0.3)) return { kind: 'done', ran: commands.length };
          return { kind: 'failed', command, because: 'exit', code: 1, tail: ['no'], log: `${folder}/log` };
        }),
    },
    artifacts: {
      save: (task, name) =>
        call('save an artifact', () => ({ address: `${task}/${name}`, bytes: 0, sha256: '' })),
      take: () => ({ kind: 'refused', reason: 'The simulation has no files' }),
      blobIds: () => [],
      read: () => ({ kind: 'missing' }),
    },
    node: node.id,
    root: node.root,
    worktreeFolder: node.worktreeFolder,
    // Looking for escapes only tells; it is tested elsewhere.
    mainGitDir: null,
    home: node.root,
    settings: config.workspace,
    settingsOf: () => Promise.resolve(undefined),
    target: undefined,
    agents,
    sources: [],
    sourceMemories: {
      load: () => ({ syncedAt: null, problem: null, limit: null }),
      save: () => {},
      wroteAt: () => null,
      wrote: () => {},
    },
    landing: config.landing,
    finish: config.finish,
  };
}

/** It only says what others may prefer. */
const NO_RADAR: Radar = {
  sighting: { load: () => undefined, save: unused },
  memory: { load: () => undefined, save: unused },
  tipOf: () => null,
  touched: unused,
};

const FURNISHED: FurnishReport = {
  brought: [],
  linked: [],
  skipped: [],
  submodules: [],
  notes: [],
  setup: { kind: 'done', ran: 0 },
};

function unused(): never {
  throw new Error('The simulation has no such port');
}

export const BOARD_AWAY = 'The board cannot be reached';

function boardFor(of: Surroundings, process: Process): Board {
  const { world, wakers, committed, renewed } = of;
  return boardOn(of.store, {
    ask: (name, effect) =>
      world.call(process, `board.${name}`, () => {
        if (of.isBoardAway) throw new Error(BOARD_AWAY);
        return effect();
      }),
    committed: (events) => {
      committed(process, events);
      for (const { process: other, wake } of wakers) world.post(other, 'wakes', wake);
    },
    renewed: (task, token, isRenewed) => renewed(process, task, token, isRenewed),
    follow: (wake) => {
      const waker = { process, wake };
      wakers.add(waker);
      return () => void wakers.delete(waker);
    },
  });
}

function gitFor({ world, changed }: Surroundings, node: SimNode, process: Process): Git {
  const { repository } = node.shared;
  const call = <T>(name: string, effect: () => T): Promise<T> => world.call(process, `git.${name}`, effect);
  return {
    withLock: (work) => work(),
    tryLock: async (name, work) => {
      const isMine = await call(`lock ${name}`, () => {
        if (node.locks.has(name)) return false;
        node.locks.set(name, process);
        return true;
      });
      if (!isMine) return undefined;
      try {
        return { value: await work() };
      } finally {
        node.locks.delete(name);
      }
    },
    look: (path) => call(`look ${path}`, () => node.look(path)),
    uncommitted: (path) => call(`uncommitted ${path}`, () => node.uncommitted(path)),
    stillUncommitted: unused,
    tip: (ref) => call(`tip ${ref}`, () => node.tip(ref)),
    isAncestor: (ancestor, of) => call('is ancestor', () => repository.isAncestor(ancestor, of)),
    mergeBase: (one, other) => call('merge base', () => repository.mergeBase(one, other)),
    countCommits: (notFrom, from) => call('count', () => repository.between(notFrom, from).length),
    ignored: unused,
    countFiles: () => 0,
    files: unused,
    isAlias: () => call('is alias', () => false),
    isMadeIn: () => true,
    branchesMadeIn: () => [],
    holderOf: (branch) => call(`holder of ${branch}`, () => node.holderOf(branch)),
    detectBase: () => call('detect base', () => TARGET),
    remoteName: () => call('remote', () => undefined),
    fetch: unused,
    moveRef: (ref, from, to) =>
      call(`move ${ref} from ${short(from)} to ${short(to)}`, (): RefMove => {
        const now = node.move(ref, from, to, process);
        if (now !== true) return { kind: 'not_moved', because: 'changed', tip: now };
        if (ref.startsWith('refs/heads/')) changed(process, `moved ${ref}`);
        return { kind: 'moved' };
      }),
    dropRef: (ref, tip) =>
      call(`drop ${ref} at ${short(tip)}`, () => {
        node.move(ref, tip, null, process);
      }),
    register: ({ path, name, branch }) =>
      call(`register ${path}`, () => {
        const takenBy = node.holderOf(branch);
        if (takenBy !== undefined) return { kind: 'taken', takenBy } as const;
        if (node.folders.has(path) || node.registrations.has(path))
          throw new Error(`${path} is there already`);
        const tip = node.tip(`refs/heads/${branch}`);
        if (tip === undefined) throw new Error(`There is no branch ${branch}`);
        node.registrations.set(path, { name, path, branch, isFinished: false });
        node.folders.set(path, { files: new Map() });
        changed(process, `registered ${path}`);
        return { kind: 'registered', place: { path, gitDir: gitDirOf(node, path), tip } } as const;
      }),
    registerDetached: unused,
    checkOut: ({ path, tip }) =>
      call(`check out ${path}`, () => {
        const registration = node.registrations.get(path);
        if (registration === undefined) throw new Error(`${path} is no worktree`);
        const { files } = node.requireFolder(path);
        for (const [file, content] of repository.require(tip).tree) files.set(file, content);
        registration.isFinished = true;
        changed(process, `checked out ${path}`);
      }),
    repair: () => call('repair', () => {}),
    locks: () => call('locks', () => []),
    deleteRemoteBranch: unused,
    worktrees: () => [...node.registrations.values()].map(({ name, path }) => ({ name, path })),
    gitDirOf: (path) => (node.registrations.has(path) ? gitDirOf(node, path) : undefined),
    stores: {
      list: () => [],
      bring: () => Promise.resolve(),
      close: () => Promise.resolve([]),
      drop: () => Promise.resolve(),
      setAside: () => [],
    },
    headStamp: () => '',
    work: {
      push: unused,
      fetch: unused,
      list: unused,
      drop: unused,
      newBytes: unused,
    },
    close: () => Promise.resolve(),
  };
}

function gitDirOf(node: SimNode, path: string): string {
  return `${node.root}/.git/worktrees/${path.slice(path.lastIndexOf('/') + 1)}`;
}

function short(commit: CommitId | null): string {
  return commit === null ? 'nothing' : commit.slice(0, 7);
}

function rescuesFor(node: SimNode, call: <T>(name: string, effect: () => T) => Promise<T>): Rescues {
  return {
    snapshot: (request) => call(`rescue ${request.worktree}`, () => node.snapshot(request)),
    list: (task) =>
      call('rescues', () => node.rescues.filter((one) => task === undefined || one.task === task)),
    kept: () => call('kept', () => []),
    find: (ref) => call('find a rescue', () => node.rescues.find((one) => one.ref === ref)),
    changes: unused,
    travelling: unused,
    wrap: unused,
    adopt: unused,
    restore: unused,
  };
}

/** What is put there is moved in two renames, between which anything may happen. */
function trashFor(
  { world, reports, changed, trashed }: Surroundings,
  node: SimNode,
  process: Process,
): Trash {
  const call = <T>(name: string, effect: () => T): Promise<T> => world.call(process, `trash.${name}`, effect);
  return {
    put: async ({ path, record }) => {
      const entry: SimTrashEntry = { record, files: null };
      await call(`put the files of ${path}`, () => {
        node.trash.push(entry);
        const folder = node.folders.get(path);
        if (folder === undefined) return;
        trashed(node, path);
        entry.files = folder.files;
        node.folders.delete(path);
        reports.delete(path);
        changed(process, `trashed ${path}`);
      });
      await call(`put what git knows of ${path}`, () => void node.registrations.delete(path));
      return entryOf(node, entry);
    },
    list: () => call('list', () => node.trash.toReversed().map((entry) => entryOf(node, entry))),
    all: unused,
    again: unused,
    isEmpty: unused,
    repositories: unused,
    bringBack: unused,
    thin: unused,
    delete: unused,
    begin: unused,
    retire: unused,
  };
}

function entryOf(node: SimNode, { record }: SimTrashEntry): TrashEntry {
  const folder = `${node.root}/.copse/trash/${record.task}-${record.at}`;
  return {
    folder,
    record,
    files: `${folder}/files`,
    gitDir: `${folder}/git`,
    gitDirWas: null,
    isRetired: false,
    isThin: false,
    isBegun: false,
    isKept: false,
  };
}

function mergingFor({ world, changed }: Surroundings, node: SimNode, process: Process): Merging {
  const { repository } = node.shared;
  const call = <T>(name: string, effect: () => T): Promise<T> =>
    world.call(process, `merging.${name}`, effect);
  return {
    build: (request) =>
      call(`build ${request.task} on ${short(request.onto)}`, () => repository.build(request)),
    bring: (commit) => call(`bring ${short(commit)}`, () => {}),
    drop: () => Promise.resolve(),
    trial: (onto, head) =>
      call('trial', () => ({ conflicts: repository.merge(onto, head).conflicts, unfit: [] })),
    examine: () => Promise.resolve(new Map()),
    treeOf: (commit) => call('tree', () => repository.treeOf(commit)),
    conflicts: (onto, head) =>
      call('conflicts', () =>
        repository.merge(onto, head).conflicts.map((file) => ({
          file,
          kind: 'contents',
          message: `CONFLICT (content): Merge conflict in ${file}`,
          hunks: null,
        })),
      ),
    commits: (notFrom, from, limit) =>
      call('commits', () => repository.between(notFrom, from).slice(0, limit).map(summaryOf)),
    moveTarget: ({ target, from, to, isTrial = false }) =>
      call(`${isTrial ? 'try to ' : ''}move ${target} from ${short(from)} to ${short(to)}`, () =>
        node.moveTarget(from, to, { by: process, isTrial }),
      ),
    push: () =>
      call('push', () => ({ kind: 'failed', because: 'no_remote', reason: 'there is none' }) as const),
    settleTarget: () => Promise.resolve({ kind: 'settled', left: null } as const),
    unsettledTargets: () => [],
    unresolved: () => call('unresolved', () => []),
    commitAll: (worktree, _branch, message) =>
      call(`commit all in ${worktree}`, () => {
        const commit = node.commitAll(worktree, message, world.elapsedMs);
        changed(process, `committed in ${worktree}`);
        return commit;
      }),
  };
}

function processPorts(of: Surroundings, node: SimNode, process: Process) {
  const { world } = of;
  const call = <T>(name: string, effect: () => T): Promise<T> => world.call(process, name, effect);
  const here = (one: Process): boolean => one.node === node.id;
  const occupancy: Occupancy = {
    inside: (folder, { roots, sessions }) =>
      call(`who is in ${folder}`, () => ({
        kind: 'known',
        processes: world
          .alive((one) => here(one) && one.folder === folder && one !== process)
          .map((one) => ({
            pid: one.pid,
            startTime: one.startTime,
            name: one.kind,
            at: folder,
            isOurs:
              (one.session !== null && sessions.includes(one.session)) ||
              roots.some((root) => isThe(root, one)),
          })),
        unreadable: [],
      })),
    identify: (pid) =>
      call('identify', () => world.alive((one) => here(one) && one.pid === pid).map(identity)[0]),
    isAlive: (wanted) =>
      call(`is ${wanted.pid} alive`, () => world.alive((one) => here(one) && isThe(wanted, one)).length > 0),
    below: (list) =>
      call('processes below', () =>
        world.alive((one) => here(one) && list.some((root) => isThe(root, one))).map(identity),
      ),
    end: (list, { graceMs }) => endProcesses(world, process, node.id, list, graceMs),
    tmuxSessions: () => call('tmux sessions', () => ({ kind: 'known', sessions: [] })),
    killTmuxSession: () => call('kill tmux', () => false),
  };
  return {
    occupancy,
    runners: {
      start: async (orders: Orders) => {
        const started = await call(`start a runner for ${orders.task} with ${orders.token}`, () => {
          if (world.chance(0.01)) throw new Error('there is no memory for another process');
          node.attempts.add(orders.attempt);
          return identity(of.startRunner(node, orders));
        });
        await call(`write down who runs ${orders.attempt}`, () => {
          node.attempts.add(orders.attempt);
          node.runners.set(orders.attempt, started);
        });
      },
      stoppedOf: () => Promise.resolve(undefined),
      remember: () => Promise.resolve(),
      lastWordsOf: () => Promise.resolve(undefined),
      lastLineOf: () => Promise.resolve(null),
      runnerOf: (attempt: AttemptId) => call(`runner of ${attempt}`, () => node.runners.get(attempt)),
      processesOf: (attempt: string) =>
        call(`processes of ${attempt}`, () =>
          world.alive((one) => here(one) && isMarked(one, attempt)).map(identity),
        ),
      known: () => call('known attempts', () => [...node.attempts]),
      forget: (attempt: AttemptId) =>
        call(`forget ${attempt}`, () => {
          node.attempts.delete(attempt);
          node.runners.delete(attempt);
        }),
    },
  };
}

/** Only agents and what they start carry the mark, not the runner. */
function isMarked(one: Process, attempt: string): boolean {
  return one.attempt === attempt && (one.kind === 'agent' || one.kind === 'child');
}

function identity({ pid, startTime }: Process): ProcessIdentity {
  return { pid, startTime };
}

function isThe(wanted: ProcessIdentity, one: Process): boolean {
  return wanted.pid === one.pid && wanted.startTime === one.startTime;
}

const LOOK_EVERY_MS = 250;

export async function endProcesses(
  world: World,
  by: Process,
  node: NodeId,
  list: readonly ProcessIdentity[],
  graceMs: number,
): Promise<Ended> {
  const meant = new Set<Process>();
  const gather = (): readonly Process[] => {
    for (const one of world.alive((candidate) => candidate.node === node)) {
      const isBelow = one.parent !== null && meant.has(one.parent);
      if (isBelow || list.some((wanted) => isThe(wanted, one))) meant.add(one);
    }
    return [...meant].filter((one) => one.state !== 'dead');
  };
  const clock = world.clockOf(by);
  await world.call(by, `ask ${list.map(({ pid }) => pid).join()} to go`, () => {
    for (const one of gather()) world.terminate(one);
  });
  const until = clock.elapsedMs() + graceMs;
  while (gather().length > 0 && clock.elapsedMs() < until) await clock.sleep(LOOK_EVERY_MS);
  if (gather().length > 0)
    await world.call(by, 'kill them', () => {
      for (const one of gather()) world.kill(one, `SIGKILL by ${by.name}`);
    });
  return { ended: [...meant].map(identity), remaining: [] };
}
