/**
 * A whole board in memory for property tests: random actions by random actors, decided by the domain alone.
 *
 * Every action is tried whatever state the task is in, with fresh and stale tokens, so that refusals are visited as
 * often as decisions.
 */

import fc from 'fast-check';

import { type Claimant, decideClaim } from '../../../packages/copse/src/tasks/rules/claim.ts';
import { type Decision, refused } from '../../../packages/copse/src/kernel/decision.ts';
import { unreachable } from '../../../packages/copse/src/kernel/unreachable.ts';
import {
  type BoardEvent,
  type World,
  evolve,
  kindOf,
  replay,
} from '../../../packages/copse/src/board/rules/event.ts';
import { brand, fencingToken, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type {
  AgentName,
  AttemptId,
  BranchName,
  CommitId,
  LandingId,
  NodeId,
  SessionId,
  TaskId,
  Timestamp,
  WorkspaceId,
} from '../../../packages/copse/src/kernel/ids.ts';
import { type Node, evolveNode } from '../../../packages/copse/src/machines/rules/node.ts';
import * as moves from '../../../packages/copse/src/tasks/rules/move.ts';
import { type LandingRequest, decideLanding } from '../../../packages/copse/src/queue/rules/landing.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import type { PullRequest } from '../../../packages/copse/src/review/rules/pull-request.ts';
import {
  type HandbackReason,
  type Task,
  type TaskAction,
  type TaskDefinition,
  handbackReasons,
  isAllowed,
  suggestCommands,
  taskActions,
} from '../../../packages/copse/src/tasks/rules/task.ts';
import * as people from '../../../packages/copse/src/tasks/rules/decisions.ts';
import { decideAutoRestart } from '../../../packages/copse/src/tasks/rules/auto-restart.ts';
import * as outcomes from '../../../packages/copse/src/tasks/rules/outcomes.ts';

export const definition: TaskDefinition = {
  title: 'Add login',
  body: '',
  priority: 3,
  kind: 'code',
  dependsOn: [],
  areas: [],
  requires: [],
  plan: null,
  agent: null,
  accept: [],
  workItem: null,
};

export const commit = brand<CommitId>('1f'.repeat(20));
export const target = brand<BranchName>('main');

export interface Step {
  readonly action: TaskAction | 'queue' | 'possible';
  /** Which task of the few there are. */
  readonly which: number;
  /** How far behind the newest token the actor's is; 0 is the holder. */
  readonly staleBy: number;
  readonly because: HandbackReason;
  readonly variant: number;
  readonly pick: number;
  readonly waitMs: number;
}

/** `possible` stands for some action that the table allows in the status the task is in by then. */
export const anyStep: fc.Arbitrary<Step> = fc.record({
  action: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Step['action']>('possible') },
    { weight: 1, arbitrary: fc.constantFrom<Step['action']>('queue', ...taskActions) },
  ),
  which: fc.nat(2),
  staleBy: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }) },
  ),
  because: fc.oneof(fc.constant<HandbackReason>('conflict'), fc.constantFrom(...handbackReasons)),
  variant: fc.nat(5),
  pick: fc.nat(1_000),
  waitMs: fc.constantFrom(0, 1_000, 11_000, 400_000),
});

export class Model {
  readonly events: BoardEvent[] = [];
  readonly #records = new Map<string, unknown>();
  #now = 1_000_000;
  #serial = 0;

  get now(): Timestamp {
    return timestamp(this.#now);
  }

  task(which: number): Task | undefined {
    return this.#records.get(`task cp-000${which}`) as Task | undefined;
  }

  landingOf(task: Task) {
    if (task.state.status !== 'landing') return undefined;
    return this.#records.get(`landing ${task.state.landing}`) as ReturnType<
      typeof this.currentWorld.landing.get
    >;
  }

  get currentWorld(): World {
    return replay(this.events);
  }

  /** The records as they were evolved one event at a time, for comparison with a replay. */
  get records(): ReadonlyMap<string, unknown> {
    return this.#records;
  }

  record(decision: Decision<BoardEvent>): void {
    if (decision.kind === 'refused') return;
    for (const event of decision.events) {
      const key = `${kindOf(event)} ${event.id}`;
      const next = evolve(this.#records.get(key) as never, event);
      if (next === undefined) this.#records.delete(key);
      else this.#records.set(key, next);
      this.events.push(event);
    }
  }

  create(which: number, dependsOn: readonly TaskId[] = []): void {
    const id = brand<TaskId>(`cp-000${which}`);
    const decision = people.decideCreate(id, { ...definition, dependsOn }, this.#statusOf, this.now);
    this.record(decision);
  }

  decide(step: Step): Decided | undefined {
    this.#now += step.waitMs;
    const task = this.task(step.which);
    if (task === undefined) return undefined;
    const action = step.action === 'possible' ? somethingPossible(task, step) : step.action;
    return { action, decision: this.#decide(task, { ...step, action }) };
  }

  claimant(session: SessionId | null): Claimant {
    this.#serial += 1;
    return {
      session: session ?? brand<SessionId>(`se-${this.#serial}`),
      attempt: brand<AttemptId>(`at-${this.#serial}`),
      node: brand<NodeId>('no-1'),
      agent: brand<AgentName>('coder'),
    };
  }

  readonly #statusOf = (id: TaskId) => (this.#records.get(`task ${id}`) as Task | undefined)?.state.status;

  #decide(task: Task, step: Step & { readonly action: Decided['action'] }): Decision<BoardEvent> {
    const { now } = this;
    const policy = defaultPolicy;
    const token = fencingToken(Math.max(0, task.token - step.staleBy));
    const landing = this.landingOf(task);
    const cause = { because: step.because, reason: 'does not fit' };
    switch (step.action) {
      case 'edit':
        return people.decideEdit(task, { title: `Title ${step.variant}` }, now);
      case 'change_dependencies': {
        const others = [0, 1, 2].filter((bit) => (step.variant >> bit) & 1);
        const dependsOn = others.map((which) => brand<TaskId>(`cp-000${which}`));
        const edges = new Map([...this.currentWorld.task.values()].map((one) => [one.id, one.dependsOn]));
        return people.decideDependencies(task, dependsOn, { statusOf: this.#statusOf, edges }, now);
      }
      case 'promote':
        return people.decidePromote(task, this.#statusOf, now);
      case 'claim':
        return decideClaim(task, this.claimant(null), now, policy.lease);
      case 'finish':
        return outcomes.decideFinish(task, token, this.#finish(step), now);
      case 'stuck':
        return outcomes.decideStuck(
          task,
          token,
          step.variant === 0 ? ' ' : 'JWT or cookies?',
          now,
          step.variant === 1 ? { isByCopse: true } : {},
        );
      case 'crash':
        return outcomes.decideCrash(task, token, 'the process is gone', now, policy.retry);
      case 'fail':
        return outcomes.decideFail(task, token, 'Its agent left uncommitted changes.', now);
      case 'park':
        return outcomes.decidePark(
          task,
          token,
          { until: timestamp(now + 60_000), because: 'rate_limit' },
          now,
        );
      case 'handback':
        return landing
          ? outcomes.decideHandback(
              task,
              { kind: 'queue', landing, claimant: this.claimant(task.session) },
              cause,
              now,
              policy,
            )
          : outcomes.decideHandback(task, { kind: 'gate', token }, cause, now, policy);
      case 'give_up':
        if (task.state.status === 'in_review')
          return outcomes.decideGiveUp(task, { head: commit }, { because: 'push', reason: 'refused' }, now);
        return outcomes.decideGiveUp(task, landing ? { landing } : { token }, cause, now);
      case 'merge':
        return outcomes.decideMerge(task, this.#newLanding(), now);
      case 'unqueue':
        return landing
          ? outcomes.decideUnqueue(task, landing, { head: commit, reason: 'its branch moved' }, now)
          : refused('wrong_status', `${task.id} is not in the queue.`, ...suggestCommands(task));
      case 'follow':
        this.#serial += 1;
        return this.#follow(task);
      case 'queue':
        return landing
          ? decideLanding(landing, this.#queueStep(step), now)
          : decideClaim(task, this.claimant(null), now, policy.lease);
      case 'land':
        if (task.state.status === 'needs_attention')
          return outcomes.decideLand(task, { kind: 'resolved', commit, head: commit }, now);
        return landing
          ? outcomes.decideLand(task, { kind: 'landed', landing, commit }, now)
          : outcomes.decideLand(task, { kind: 'pull_request', commit, head: commit, hasAll: true }, now);
      case 'pause':
        return people.decidePause(task, now);
      case 'cancel':
        return people.decideCancel(task, landing, null, now);
      case 'restart':
        return people.decideRestart(
          task,
          this.claimant(step.variant === 0 ? task.session : null),
          now,
          policy.lease,
        );
      case 'restart_automatically': {
        const facts = { lastEnd: null, isByHand: step.variant === 0 };
        const often = { ...policy.retry, maxStuckRestarts: 2, firstBackoffMs: 0 };
        return decideAutoRestart(task, facts, often, now);
      }
      case 'resume':
        return people.decideResume(
          task,
          this.claimant(step.variant === 0 ? null : task.session),
          now,
          policy.lease,
        );
      case 'lose_head':
        return landing
          ? outcomes.decideHeadLost(task, landing, { reason: 'its machine is gone', until: now }, now)
          : refused('wrong_status', `${task.id} is not in the queue.`, ...suggestCommands(task));
      case 'reset':
        return people.decideReset(task, task.token, [brand<WorkspaceId>('ws-1')], now);
      case 'move':
        return moves.decideMove(task, this.#node(step), { silentMs: 0 }, policy.nodes, now);
      case 'delete': {
        const dependants = [...this.currentWorld.task.values()]
          .filter((other) => other.dependsOn.includes(task.id) && task.state.status !== 'done')
          .filter((other) => isAllowed('change_dependencies', other.state.status))
          .map((other) => other.id);
        return people.decideDelete(task, { landing, dependants }, now);
      }
      default:
        return unreachable(step.action);
    }
  }

  #newLanding(): outcomes.NewLanding {
    this.#serial += 1;
    return { landing: brand<LandingId>(`la-${this.#serial}`), target, attempt: null, head: commit };
  }

  #node(step: Step): Node {
    const { id, at } = { id: brand<NodeId>(`n-${step.variant}`), at: this.now };
    const agents = [{ name: 'coder', capabilities: [] }];
    const machine = { programs: [], platform: [], cpus: 1, memoryBytes: 0, isContainer: false };
    const facts = { version: '1', protocol: { oldest: 1, newest: 1 }, labels: [], slots: 1 };
    const capabilities = { ...machine, agents };
    return evolveNode(undefined, {
      type: 'node.joined',
      id,
      at,
      name: 'desk',
      facts: { ...facts, capabilities },
    });
  }

  #finish(step: Step): outcomes.Finish {
    if (step.variant < 2) return { kind: 'landing', ...this.#newLanding() };
    if (step.variant < 4)
      return { kind: 'review', head: commit, pullRequest: step.variant === 2 ? null : wanted };
    return { kind: 'done', how: 'no_changes', commit: null };
  }

  #follow(task: Task): Decision<BoardEvent> {
    const seen = { ...wanted, note: `look ${this.#serial}` };
    const decision = outcomes.decidePullRequest(task, commit, seen, this.now);
    if (decision === null) throw new Error('A note that is new changes something');
    return decision;
  }

  #queueStep(step: Step): LandingRequest {
    const requests: readonly LandingRequest[] = [
      { action: 'merge' },
      { action: 'check', candidate: commit },
      {
        action: 'journal',
        intent: { oldTip: commit, newTip: commit, commit },
        proof: { kind: 'checked', green: ['unit'], required: ['unit'] },
      },
      { action: 'requeue', head: commit, reason: 'the target moved' },
      { action: 'wait', reason: { kind: 'checkout_changed', checkout: '/work', files: ['src/a.ts'] } },
      step.pick % 3 === 0
        ? { action: 'note', note: 'Resolved as before: src/a.ts' }
        : { action: step.pick % 3 === 1 ? 'hurry' : 'skip_checks' },
    ];
    return requests[step.variant] ?? { action: 'merge' };
  }
}

const wanted: PullRequest = {
  is: 'wanted',
  branch: brand<BranchName>('cp-0000/work'),
  target,
  note: null,
  summary: null,
};

export interface Decided {
  readonly action: TaskAction | 'queue';
  readonly decision: Decision<BoardEvent>;
}

/** Ends of all things are rare, or most histories would be short. */
function somethingPossible(task: Task, { pick }: Step): Decided['action'] {
  const { status } = task.state;
  const ends: ReadonlySet<TaskAction> = new Set(['cancel', 'delete']);
  const possible = taskActions.filter((action) => isAllowed(action, status));
  const likely = possible.filter((action) => !ends.has(action));
  const choices: readonly Decided['action'][] = [
    ...likely,
    ...(status === 'landing' ? (['queue', 'queue', 'queue'] as const) : []),
    ...(status === 'landing' && Object.keys(task.handbacks).length > 0 ? (['handback'] as const) : []),
    ...(status === 'in_progress' && task.retries > 0 ? (['crash', 'crash', 'crash'] as const) : []),
    ...(pick % 3 === 0 ? possible : []),
  ];
  return choices[pick % choices.length] ?? 'delete';
}
