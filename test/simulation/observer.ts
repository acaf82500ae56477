/** Watches a run for everything that must never be false, while it happens and when all has come to rest. */

import { waitText } from '../../packages/copse/src/explain/rules/queue.ts';
import { isDeepStrictEqual } from 'node:util';

import { areasOverlap, parseArea } from '../../packages/copse/src/tasks/rules/areas/areas.ts';
import {
  type BoardEvent,
  type RecordedEvent,
  recordKinds,
  replay,
} from '../../packages/copse/src/board/rules/event.ts';
import type { CommitId, TaskId } from '../../packages/copse/src/kernel/ids.ts';
import type { Task } from '../../packages/copse/src/tasks/rules/task.ts';
import type { Uncommitted } from '../../packages/copse/src/git/port.ts';
import { SHARED_FILE } from './agents.ts';
import { type SimNode, TARGET } from './node.ts';
import { BOARD_AWAY } from './ports.ts';
import { subjectOf } from './repository.ts';
import type { Simulation } from './simulate.ts';
import type { Process } from './world.ts';

export class Observer {
  readonly #simulation: Simulation;
  readonly violations: string[] = [];
  /** How often each kind of event happened: what a run did not do, it did not test. */
  readonly happened = new Map<string, number>();
  readonly #tokens = new Map<string, number>();
  readonly #touchedBy = new Map<string, number>();
  /** Who heard that it lost its task. */
  readonly #refused = new Set<Process>();
  readonly #done = new Set<string>();
  /** Tasks that were resumed after they were done. */
  readonly #goneOn = new Set<string>();
  readonly #heard = new Map<string, { readonly atMs: number; readonly longestMs: number }>();
  readonly #reviewed = new Map<string, CommitId>();
  readonly #handbacks = new Map<string, Map<string, number>>();
  readonly #crashes = new Map<string, number>();
  #movesSeen = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  violate(rule: string): void {
    this.#simulation.world.note(null, `VIOLATION ${rule}`);
    if (this.violations.length < 20) this.violations.push(rule);
  }

  problem(process: Process, text: string): void {
    this.count(
      `problem: ${text.replace(/c[p]-\w+|at-\w+|la-\w+|[0-9a-f]{40}|\d+/g, '…').split('\n', 1)[0] ?? ''}`,
    );
    this.#simulation.world.note(process, `has a problem: ${text}`);
  }

  /** An agent may throw as it likes, and a command may say that it cannot; whoever runs agents may not. */
  fellOver(process: Process, error: unknown): void {
    this.count(`fell over: ${process.name.replace(/cp-\S+/, '…')} ${String(error)}`);
    const isOurs = process.kind === 'orchestrator' || process.kind === 'runner' || process.name === 'world';
    const isAllowed = error instanceof Error && error.message === BOARD_AWAY;
    if (isOurs && !isAllowed) this.violate(`${process.name} fell over: ${String(error)}`);
  }

  /** Once another attempt on the same machine has touched anything, the ones before it must not any more. */
  changed(process: Process, what: string): void {
    if (process.kind !== 'runner' || process.task === null) return;
    const place = `${process.task} on ${process.node}`;
    const newest = this.#touchedBy.get(place) ?? 0;
    if (process.token < newest)
      this.violate(`13/15: ${process.name} ${what}, after token ${newest} had begun there`);
    else this.#touchedBy.set(place, process.token);
  }

  /** Against what this observer saw, not against what the board believes. */
  renewed(process: Process, task: TaskId, token: number, isRenewed: boolean): void {
    if (!isRenewed) {
      if (this.#refused.has(process))
        this.violate(`13: ${process.name} goes on although it was told that it lost ${task}`);
      this.#refused.add(process);
      return;
    }
    const newest = this.#tokens.get(task) ?? 0;
    if (token !== newest)
      this.violate(`13: ${process.name} renewed ${task} with token ${token}, the newest is ${newest}`);
  }

  /** Whatever is in it and in no commit has been rescued by then. */
  trashed(node: SimNode, path: string): void {
    const { repository } = node.shared;
    const { files } = node.requireFolder(path);
    const { changed, untracked } = node.uncommitted(path);
    for (const file of [...changed, ...untracked]) {
      const isSaved = node.rescues.some(
        ({ commit }) => repository.require(commit).tree.get(file) === files.get(file),
      );
      if (!isSaved && files.has(file) && node.look(path).state === 'healthy')
        this.violate(`2: ${path} went to the trash, and its ${file} was not rescued`);
    }
  }

  /** The longest time that a lease went without a renewal, on a clock that nobody sets. */
  #hear(task: string): void {
    const { elapsedMs } = this.#simulation.world;
    const { atMs, longestMs } = this.#heard.get(task) ?? { atMs: elapsedMs, longestMs: 0 };
    this.#heard.set(task, { atMs: elapsedMs, longestMs: Math.max(longestMs, elapsedMs - atMs) });
  }

  committed(process: Process, events: readonly RecordedEvent[]): void {
    const { world } = this.#simulation;
    for (const { by, event } of events) {
      this.count(event.type);
      world.note(
        process,
        `  ${event.type} ${event.id}${'reason' in event ? ` (${waitText(event.reason ?? '').split('\n', 1)[0]})` : ''}`,
      );
      this.#checkToken(event);
      this.#checkReviewed(event);
      if (event.type === 'task.resumed' && this.#done.has(event.id)) this.#goneOn.add(event.id);
      if (event.type === 'task.done') this.#done.add(event.id);
      if (by.kind === 'session') this.#checkAuthor(process, event, by.token);
      if (event.type === 'landing.journalled') this.#checkLead(process, event.id);
      if (event.type === 'attempt.ended') this.#checkEnded(process, event.id);
      if (event.type === 'landing.landed') this.#checkLanded(event.id, event.commit);
      if (
        event.type === 'task.handed_back' ||
        event.type === 'task.resumed' ||
        event.type === 'task.restarted'
      )
        this.#checkHandbacks(event);
      if (event.type === 'task.crashed' || event.type === 'task.restarted' || event.type === 'task.done')
        this.#checkRetries(event);
    }
    const begins = events.find(({ by, event }) => by.kind === 'node' && grantOf(event) !== undefined);
    if (begins !== undefined) this.#checkSchedule(process, begins.event);
    this.#checkMoves();
  }

  /** What still has to happen, as far as the board and the folders tell. */
  unrest(): string | undefined {
    const { store, nodes } = this.#simulation;
    for (const { id, state } of store.records.task.values()) {
      if (state.status === 'in_progress' || state.status === 'landing' || state.status === 'ready')
        return `${id}, which is ${state.status}`;
    }
    // Elsewhere there may be what another machine started and did not finish; it stays.
    const [node] = nodes.size === 1 ? nodes.values() : [];
    for (const { name, path } of node?.registrations.values() ?? []) {
      const state = store.get('task', name)?.state;
      const isLanded = state?.status === 'done' && state.how === 'landed';
      const workspace = store
        .list('workspace', { task: name as TaskId })
        .find(({ disposition }) => disposition.is !== 'released');
      const isWanted =
        workspace?.disposition.is === 'kept' ||
        !node?.folders.has(path) ||
        hasChanges(node.uncommitted(path));
      if (isLanded && !isWanted) return `the worktree of ${name}, which landed`;
    }
    return undefined;
  }

  checkTheEnd(): void {
    this.#checkMoves();
    this.#checkProcesses();
    this.#checkRecords();
    this.#checkTasks();
    this.#checkWork();
    this.#checkTarget();
  }

  count(what: string): void {
    this.happened.set(what, (this.happened.get(what) ?? 0) + 1);
  }

  #checkToken(event: BoardEvent): void {
    const grant = grantOf(event);
    if (grant === undefined) return;
    const before = this.#tokens.get(event.id) ?? 0;
    if (grant !== before + 1) this.violate(`11/12: ${event.id} got token ${grant} after ${before}`);
    this.#tokens.set(event.id, grant);
    this.#heard.set(event.id, { atMs: this.#simulation.world.elapsedMs, longestMs: 0 });
  }

  /** Against what this observer saw, not against what the board believes. */
  #checkAuthor(process: Process, event: BoardEvent, token: number): void {
    const task = process.task ?? '';
    const newest = this.#tokens.get(task) ?? 0;
    if (token !== newest)
      this.violate(`13: ${event.type} of ${task} was written with token ${token}, the newest is ${newest}`);
  }

  /** Whoever gives up an attempt of its own machine has ended it first; only a runner that nobody knew of may be left. */
  #checkEnded(process: Process, id: string): void {
    const { world, store } = this.#simulation;
    const attempt = store.get('attempt', id);
    if (process.kind !== 'orchestrator' || attempt?.node !== process.node) return;
    for (const one of world.alive(({ node }) => node === process.node)) {
      const isItsRunner = one.pid === attempt.process?.pid && one.startTime === attempt.process.startTime;
      if (one.attempt === id || isItsRunner)
        this.violate(`15: ${attempt.task} was given up while ${one.name} was still at work`);
    }
  }

  /** The journal belongs to whoever leads the queue at that moment. */
  #checkLead(process: Process, landing: string): void {
    const { store } = this.#simulation;
    const lead = store.get('resource', `queue:${TARGET}`);
    if (lead?.holder !== process.node)
      this.violate(
        `14: ${process.name} journalled ${landing}, while ${lead?.holder ?? 'nobody'} leads the queue`,
      );
  }

  #checkLanded(id: string, commit: CommitId): void {
    const { shared } = this.#simulation;
    if (!shared.repository.isAncestor(commit, shared.target))
      this.violate(`23: ${id} is recorded as landed, and the target does not have ${commit}`);
  }

  /** Every move of the target that Copse made was journalled before, from where it was, to something that contains it. */
  #checkMoves(): void {
    const { shared, store } = this.#simulation;
    for (const { from, to, by } of shared.moves.slice(this.#movesSeen)) {
      if (!shared.repository.isAncestor(from, to))
        this.violate(`21: the target moved from ${from} to ${to}, which lacks it`);
      if (by === null) continue;
      const isJournalled = store.log.some(
        ({ event }) =>
          event.type === 'landing.journalled' && event.intent.oldTip === from && event.intent.newTip === to,
      );
      if (!isJournalled)
        this.violate(`14/19: ${by.name} moved the target from ${from} to ${to} without a journalled intent`);
    }
    this.#movesSeen = shared.moves.length;
  }

  #checkRetries(event: BoardEvent): void {
    const { policy } = this.#simulation;
    if (
      event.type === 'task.crashed' &&
      /has not (renewed its lease|been heard from) for/.test(event.reason)
    ) {
      this.#hear(event.id);
      const silentMs = this.#heard.get(event.id)?.longestMs ?? 0;
      if (silentMs < policy.lease.durationMs)
        this.violate(
          `15: ${event.id} was given up for its silence, and was never silent for more than ${silentMs} ms`,
        );
    }
    const crashes = event.type === 'task.crashed' ? (this.#crashes.get(event.id) ?? 0) + 1 : 0;
    this.#crashes.set(event.id, crashes);
    if (crashes > policy.retry.maxRetries) this.violate(`18: ${event.id} crashed ${crashes} times in a row`);
  }

  /** What a person lets land has all of what was sent to review. */
  #checkReviewed(event: BoardEvent): void {
    if (event.type === 'task.sent_to_review') this.#reviewed.set(event.id, event.head);
    if (event.type === 'task.resumed' || event.type === 'task.done') this.#reviewed.delete(event.id);
    if (event.type !== 'landing.queued') return;
    const reviewed = this.#reviewed.get(event.task);
    if (reviewed !== undefined && !this.#simulation.shared.repository.isAncestor(reviewed, event.head))
      this.violate(`24: ${event.task} is to land without all of what was sent to review`);
  }

  #checkHandbacks(event: BoardEvent): void {
    if (event.type !== 'task.handed_back') return void this.#handbacks.delete(event.id);
    const before = this.#handbacks.get(event.id) ?? new Map<string, number>();
    const count = (before.get(event.because) ?? 0) + 1;
    this.#handbacks.set(event.id, before.set(event.because, count));
    if (count > this.#simulation.policy.handback[event.because])
      this.violate(`18: ${event.id} was handed back ${count} times because of ${event.because}`);
  }

  /** At the moment somebody begins: not more than may, and nobody in an area that is taken. */
  #checkSchedule(process: Process, event: BoardEvent): void {
    const { store, policy } = this.#simulation;
    const running = [...store.records.task.values()].flatMap((task) =>
      task.state.status === 'in_progress' ? [{ task, claim: task.state.claim }] : [],
    );
    const here = running.filter(({ claim }) => claim.node === process.node);
    if (here.length > policy.orchestration.maxAgents)
      this.violate(
        `9: ${here.length} sessions on ${process.node}, where ${policy.orchestration.maxAgents} may be`,
      );
    const task = store.get('task', event.id);
    for (const { task: other } of running) {
      if (task === undefined || other.id === task.id || event.type !== 'task.claimed') continue;
      const overlap = areasOverlap(areasOf(task), areasOf(other));
      if (overlap.kind === 'overlap')
        this.violate(`9: ${task.id} began beside ${other.id} in an area of both`);
    }
    for (const dependency of task?.dependsOn ?? []) {
      const status = store.get('task', dependency)?.state.status;
      if (event.type === 'task.claimed' && task?.token === 1 && status !== undefined && status !== 'done')
        this.count('began before what it depends on was done again');
    }
  }

  #checkProcesses(): void {
    const { world, store } = this.#simulation;
    for (const one of world.alive(({ kind }) => kind === 'runner' || kind === 'agent' || kind === 'child'))
      this.violate(`orphan: ${one.name} of token ${one.token} (${one.state}) still runs`);
    for (const { task } of store.leases.values()) this.violate(`lease: ${task} is held by nobody who runs`);
    for (const node of this.#simulation.nodes.values())
      for (const [name, holder] of node.locks)
        if (holder.kind !== 'orchestrator') this.violate(`lock: ${name} is held by ${holder.name}`);
  }

  #checkRecords(): void {
    const { store } = this.#simulation;
    const replayed = replay(store.log.map(({ event }) => event));
    for (const kind of recordKinds) {
      const isSame = isDeepStrictEqual(
        new Map([...(replayed[kind] as ReadonlyMap<string, unknown>)].toSorted(byKey)),
        new Map([...(store.records[kind] as ReadonlyMap<string, unknown>)].toSorted(byKey)),
      );
      if (!isSame) this.violate(`4: the events do not make the ${kind} records that are there`);
    }
    for (const [index, { number }] of store.log.entries())
      if (number !== index + 1) this.violate(`4: event ${number} is the ${index + 1}th`);
  }

  #checkTasks(): void {
    const { store } = this.#simulation;
    for (const task of store.records.task.values()) {
      const { status } = task.state;
      if (status === 'in_progress' || status === 'landing' || status === 'ready') continue;
      const unmet = task.dependsOn.some((id) => (store.get('task', id)?.state.status ?? 'done') !== 'done');
      if (status === 'pending' && !unmet) this.violate(`9: ${task.id} is pending and waits for nothing`);
      const session = task.session === null ? undefined : store.get('session', task.session);
      if (session?.state.life === 'live')
        this.violate(`session: ${session.id} is live and ${task.id} is ${status}`);
      for (const attempt of store.list('attempt', { task: task.id }))
        if (attempt.end === null)
          this.violate(`attempt: ${attempt.id} of ${task.id} never ended, which is ${status}`);
    }
    for (const { task, state } of store.openLandings()) {
      const status = store.get('task', task)?.state.status;
      if (status !== 'landing')
        this.violate(`landing: ${task} is ${status ?? 'gone'} and its landing ${state.status}`);
    }
  }

  /** No commit without a ref, no uncommitted file that is nowhere. */
  #checkWork(): void {
    const { work, nodes, shared } = this.#simulation;
    const contents = new Set<string>();
    for (const node of nodes.values()) {
      const reachable = node.reachable();
      for (const { id, task, node: of } of work.commits)
        if (of === node && !reachable.has(id))
          this.violate(`1: commit ${id} of ${task} is lost on ${node.id}`);
      for (const id of reachable)
        for (const content of shared.repository.require(id).tree.values()) contents.add(content);
      for (const { files } of node.folders.values())
        for (const content of files.values()) contents.add(content);
      for (const { files } of node.trash) for (const content of files?.values() ?? []) contents.add(content);
    }
    for (const content of work.written.keys())
      if (!contents.has(content))
        this.violate(`2: what was not committed is lost: ${JSON.stringify(content)}`);
  }

  /** Whatever landed is there, and is there once. */
  #checkTarget(): void {
    const { shared, store } = this.#simulation;
    const { repository, target } = shared;
    const { tree, ancestors } = repository.require(target);
    const subjects = new Map<string, number>();
    for (const id of ancestors) {
      const commit = repository.require(id);
      if (commit.parents.length > 1) continue;
      const subject = subjectOf(commit);
      if (subject.startsWith('feat: ')) subjects.set(subject, (subjects.get(subject) ?? 0) + 1);
    }
    // One that goes on after it landed, in a worktree that was still there, brings the commits as they were before they were
    // rebased. What they change is there once all the same.
    const hasGoneOn = (subject: string): boolean => this.#goneOn.has(subject.split(' ')[1] ?? '');
    for (const [subject, count] of subjects) {
      if (count > 1 && !hasGoneOn(subject)) this.violate(`23: "${subject}" is on the target ${count} times`);
    }
    const lines = (tree.get(SHARED_FILE) ?? '').split('\n');
    for (const line of new Set(lines))
      if (lines.filter((one) => one === line).length > 1)
        this.violate(`23: the line ${line} is on the target more than once`);
    const last = new Map<TaskId, CommitId>();
    for (const { event } of store.log) {
      const landing = event.type === 'landing.landed' ? store.get('landing', event.id) : undefined;
      if (landing !== undefined) last.set(landing.task, landing.head);
    }
    for (const [task, head] of last) {
      for (const [path, content] of repository.require(head).tree) {
        const isOwn = path.startsWith(`${task}/`) || path === `dirt-${task}`;
        if (isOwn && tree.get(path) !== content)
          this.violate(`24: ${path} of ${task} landed and is not on the target`);
        if (path === SHARED_FILE && content.split('\n').includes(task) && !lines.includes(task))
          this.violate(`22: the line of ${task} landed and is not on the target`);
      }
    }
    for (const { event } of store.log) {
      if (event.type !== 'task.done' || event.how !== 'landed' || event.commit === null) continue;
      if (!ancestors.has(event.commit))
        this.violate(`23: ${event.id} is done, and the target lacks ${event.commit}`);
    }
  }
}

function grantOf(event: BoardEvent): number | undefined {
  switch (event.type) {
    case 'task.claimed':
    case 'task.resumed':
      return event.claim.token;
    case 'task.restarted':
    case 'task.handed_back':
      return event.grant?.claim.token;
    default:
      return undefined;
  }
}

function areasOf({ areas }: Task) {
  return areas.flatMap((text) => {
    const read = parseArea(text);
    return read.kind === 'accepted' ? [read.area] : [];
  });
}

function hasChanges({ changed, untracked }: Uncommitted): boolean {
  return changed.length + untracked.length > 0;
}

function byKey([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}
