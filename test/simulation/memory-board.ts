/** The board port on a store in memory. Who asks, and when, is for the door to say. */

import type { RecordedEvent } from '../../packages/copse/src/board/rules/event.ts';
import { type TaskId, timestamp } from '../../packages/copse/src/kernel/ids.ts';
import { onlyTerm } from '../../packages/copse/src/board/rules/term.ts';
import type { Board } from '../../packages/copse/src/board/port.ts';
import type { MemoryStore } from './memory-store.ts';

interface BoardDoor {
  readonly ask: <T>(name: string, effect: () => T | Promise<T>) => Promise<T>;
  readonly committed: (events: readonly RecordedEvent[]) => void;
  readonly renewed: (task: TaskId, token: number, isRenewed: boolean) => void;
  readonly follow: (wake: () => void) => () => void;
}

const OPEN_DOOR: BoardDoor = {
  ask: async (_, effect) => effect(),
  committed: () => {},
  renewed: () => {},
  follow: () => () => {},
};

export function boardOn(
  store: MemoryStore,
  { ask, committed, renewed, follow }: BoardDoor = OPEN_DOOR,
): Board {
  return {
    engine: 'sqlite',
    location: 'memory',
    get: (kind, id) => ask(`get ${kind} ${id}`, () => store.get(kind, id)),
    list: (kind, where) => ask(`list ${kind}`, () => store.list(kind, where)),
    some: (kind, ids) => ask(`some ${kind}`, () => store.some(kind, ids)),
    tasks: (query) => ask('tasks', () => store.tasks(query)),
    idsStartingWith: (kind, prefix, limit) => ask('ids', () => store.idsStartingWith(kind, prefix, limit)),
    statuses: (ids) => ask('statuses', () => store.statuses(ids)),
    dependants: (id) => ask('dependants', () => store.dependants(id)),
    countByStatus: () => ask('counts', () => store.countByStatus()),
    dependantGraph: (from) => ask('dependant graph', () => store.dependantGraph(from)),
    dependsOnCancelled: () => ask('depends on cancelled', () => store.dependsOnCancelled()),
    dependencyGraph: (from) => ask('graph', () => store.dependencyGraph(from)),
    lease: (task) => ask('lease', () => store.leases.get(task)),
    held: () => ask('held', () => store.held()),
    openLandings: () => ask('open landings', () => store.openLandings()),
    checksOf: (tree) => ask('checks', () => store.checksOf(tree)),
    events: (query) => ask('events', () => store.events(query)),
    eventPage: (query) => ask('events', () => store.eventPage(query)),
    lastEvent: () => ask('last event', () => store.lastEvent()),
    transact: (work) =>
      ask('transact', async () => {
        const { value, recorded } = await store.transact(work);
        if (recorded.length > 0) committed(recorded);
        return value;
      }),
    renewLease: (task, token, at) =>
      ask(`renew ${task} with ${token}`, () => {
        const renewal = store.renewLease(task, token, at);
        renewed(task, token, renewal.kind === 'renewed');
        return renewal;
      }),
    takeKey: () => Promise.reject(new Error('No simulated program takes keys')),
    keepAnswer: () => Promise.reject(new Error('No simulated program takes keys')),
    seeNode: (id) => ask('see node', () => store.seeNode(id, timestamp(0))),
    silences: () => ask('silences', () => store.silences(timestamp(0))),
    onChange: (wake) =>
      ask('follow', () => {
        const stop = follow(wake);
        return { stop: async () => stop() };
      }),
    readAtOnce: notHere,
    exportTo: notHere,
    importFrom: notHere,
    backUp: () => Promise.resolve({ kind: 'left_to_server' }),
    findDamage: () => Promise.resolve([]),
    terms: () => Promise.resolve([onlyTerm]),
    server: () => Promise.resolve(null),
    connection: () => Promise.resolve(null),
    requireCurrent: () => Promise.resolve(),
    close: async () => {},
  };
}

function notHere(): never {
  throw new Error('A board in memory is neither exported nor imported');
}
