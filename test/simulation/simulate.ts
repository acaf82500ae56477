/**
 * One run from one seed: a few tasks, one to three orchestrators on one or two machines, people who interfere, and faults.
 * After a while the faults stop, and everything has to come to rest by itself.
 */

import { runAttempt } from '../../packages/copse/src/agents/run/attempt.ts';
import { restartTask, resumeTask } from '../../packages/copse/src/agents/act/go-on.ts';
import { landNow, queueTask } from '../../packages/copse/src/queue/act/merge.ts';
import { Orchestrator } from '../../packages/copse/src/orchestrator/orchestrate.ts';
import { removeWorkspace } from '../../packages/copse/src/workspaces/discard/remove.ts';
import type { RunContext } from '../../packages/copse/src/queue/context.ts';
import { cancelTask, pauseTask } from '../../packages/copse/src/agents/act/stop-task.ts';
import { addTask, deleteTasks } from '../../packages/copse/src/tasks/act/tasks.ts';
import type { RecordedEvent } from '../../packages/copse/src/board/rules/event.ts';
import type { TaskId } from '../../packages/copse/src/kernel/ids.ts';
import { type Policy, defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';
import { runLoop } from '../../packages/copse/src/orchestrator/loop.ts';
import type { Orders } from '../../packages/copse/src/agents/ports/runners.ts';
import { type EffectiveAgent, effectiveAgent } from '../../packages/copse/src/config/effective.ts';
import { type Config, configSchema } from '../../packages/copse/src/config/schema.ts';
import { type AgentSurroundings, SHARED_FILE, type Work, startTurn } from './agents.ts';
import { Faults } from './faults.ts';
import { Observer } from './observer.ts';
import { MemoryStore } from './memory-store.ts';
import { type Shared, SimNode } from './node.ts';
import { contextFor } from './ports.ts';
import { contextFilesFor, reportsFor } from './report-ports.ts';
import { Repository } from './repository.ts';
import { type Process, World } from './world.ts';

export interface RunResult {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  readonly steps: number;
  readonly virtualMs: number;
  readonly statuses: readonly string[];
  readonly happened: ReadonlyMap<string, number>;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Far more than any run needs that comes to rest. */
const MOST_STEPS = 200_000;
/** A clock that jumped back may make work wait for an hour, more than once. */
const MOST_REST_MS = 6 * HOUR;
/** Longer than anything that is tried again by itself. */
const QUIET_MS = 3 * MINUTE;

export async function simulate(
  seed: number,
  options: { readonly isTraced?: boolean } = {},
): Promise<RunResult> {
  const simulation = new Simulation(seed, options.isTraced ?? false);
  await simulation.run();
  const { world, observer, store } = simulation;
  return {
    seed,
    violations: observer.violations,
    trace: world.trace,
    steps: world.steps,
    virtualMs: world.elapsedMs,
    statuses: [...store.records.task.values()].map(({ state }) => state.status),
    happened: observer.happened,
  };
}

export class Simulation implements AgentSurroundings {
  readonly world: World;
  readonly store = new MemoryStore();
  readonly nodes = new Map<string, SimNode>();
  readonly shared: Shared;
  readonly policy: Policy;
  readonly config: Config;
  readonly agents: readonly EffectiveAgent[];
  readonly wakers: AgentSurroundings['wakers'] = new Set();
  readonly reports: AgentSurroundings['reports'] = new Map();
  readonly work: Work = { written: new Map(), commits: [], count: 0 };
  readonly observer: Observer;
  readonly faults: Faults;
  isHealed = false;
  isBoardAway = false;
  #isOver = false;
  readonly #healMs: number;

  constructor(seed: number, isTraced: boolean) {
    this.world = new World({
      seed,
      isTraced,
      fate: (process) => this.faults.fate(process),
      fellOver: (process, error) => this.observer.fellOver(process, error),
    });
    const { world } = this;
    const repository = new Repository();
    const target = repository.write(
      [],
      new Map([
        [SHARED_FILE, 'first'],
        ['README', 'read me'],
      ]),
      'first',
      0,
    );
    this.shared = { repository, target, moves: [] };
    const count = world.chance(0.3) ? 2 : 1;
    for (let number = 1; number <= count; number += 1) {
      const node = new SimNode(`node-${number}`, this.shared, count === 1 && world.chance(0.5));
      this.nodes.set(node.id, node);
    }
    this.config = world.pick(configs);
    this.agents = Object.keys(this.config.agents).flatMap((name) => effectiveAgent(this.config, name) ?? []);
    const maxAgents = 1 + world.upTo(3);
    this.policy = { ...defaultPolicy, orchestration: { ...defaultPolicy.orchestration, maxAgents } };
    this.#healMs = (1 + world.upTo(9)) * MINUTE;
    this.faults = new Faults(this);
    this.observer = new Observer(this);
    world.onDeath((process) => {
      for (const node of this.nodes.values()) node.release(process);
      for (const waker of this.wakers) if (waker.process === process) this.wakers.delete(waker);
    });
  }

  async run(): Promise<void> {
    const { world, observer } = this;
    const node = this.anyNode();
    world.spawn({ kind: 'person', name: 'world', node: node.id }, 0, (self) => this.#direct(self, node));
    while (!this.#isOver) {
      if (!(await world.step())) break;
      if (world.steps > MOST_STEPS) {
        observer.violate(`liveness: nothing came to rest in ${MOST_STEPS} steps`);
        break;
      }
    }
    observer.checkTheEnd();
  }

  anyNode(): SimNode {
    return this.world.pick([...this.nodes.values()]);
  }

  readonly violate = (rule: string): void => this.observer.violate(rule);

  readonly changed = (process: Process, what: string): void => this.observer.changed(process, what);

  readonly committed = (process: Process, events: readonly RecordedEvent[]): void => {
    this.observer.committed(process, events);
    this.faults.committed(process, events);
  };

  readonly renewed = (process: Process, task: TaskId, token: number, isRenewed: boolean): void =>
    this.observer.renewed(process, task, token, isRenewed);

  readonly trashed = (node: SimNode, path: string): void => this.observer.trashed(node, path);

  startOrchestrator(node: SimNode): void {
    const { world, policy } = this;
    const of = { kind: 'orchestrator', name: `orchestrator ${node.id}`, node: node.id } as const;
    world.spawn(of, world.upTo(2_000), async (process) => {
      const stop = new AbortController();
      process.onTerm = () => stop.abort();
      const context = contextFor(this, node, process, { kind: 'node', node: node.id });
      const orchestrator = new Orchestrator(context, (task, reason) =>
        this.observer.problem(process, `${task}: ${reason}`),
      );
      await runLoop(context, orchestrator, {
        signal: stop.signal,
        isOnce: false,
        untilIdle: false,
        pollIntervalMs: policy.orchestration.pollIntervalMs,
        onPass: () => {},
        onProblem: (error) =>
          this.observer.problem(
            process,
            error instanceof Error ? (error.stack ?? error.message) : String(error),
          ),
      });
      return 0;
    });
  }

  startRunner(node: SimNode, orders: Orders): Process {
    const { world } = this;
    const { task, token, attempt } = orders;
    const agent = this.agents.find(({ name }) => name === orders.agent);
    if (agent === undefined) throw new Error(`There is no agent ${orders.agent}`);
    const of = { kind: 'runner', name: `runner ${task}.${token}`, node: node.id, task, token } as const;
    // Now and then it takes longer to start than anybody waits for it.
    const delayMs = world.chance(0.03) ? 10 * SECOND + world.upTo(20 * SECOND) : world.upTo(500);
    return world.spawn(of, delayMs, async (process) => {
      const stop = new AbortController();
      process.onTerm = () => stop.abort();
      const { session } = orders;
      const context = contextFor(this, node, process, { kind: 'session', session, token });
      const end = await runAttempt(
        {
          ...context,
          agents: [agent],
          landing: agent.landing,
          finish: agent.finish,
          agent,
          runtime: {
            capabilities: {
              stop: 'reprompt',
              resume: 'never',
              permissions: 'decides',
              cost: 'nothing',
              commits: true,
            },
            start: (turn) => startTurn(this, node, process, turn),
          },
          reports: reportsFor(this, process),
          contextFiles: contextFilesFor(this, process),
          asked: { answer: () => ({ stop: () => {} }), ask: () => Promise.resolve(undefined) },
          sessionCommands: { run: () => Promise.resolve({ code: 1, stdout: '', stderr: '' }) },
          checkoutMemory: { load: () => undefined, save: () => {} },
          environment: {},
          stop: stop.signal,
          onCutOff: () => {},
          // Its first line: a stack differs from run to run.
          log: (line) => world.note(process, `says: ${line.split('\n', 1)[0]}`),
        },
        orders,
      );
      world.note(process, `ended ${JSON.stringify(end)} for ${attempt}`);
      if (end.kind === 'lost') this.observer.count('fenced');
      const left = await context.runners.processesOf(attempt);
      if (left.length === 0) await context.runners.forget(attempt);
      return 0;
    });
  }

  /** Everything that comes from outside: the tasks, the people, the end of the faults. */
  async #direct(self: Process, node: SimNode): Promise<number> {
    const { world } = this;
    const clock = world.clockOf(self);
    await this.#addTasks(contextFor(this, node, self, { kind: 'person', name: 'world' }));
    for (const one of this.nodes.values()) {
      const count = this.nodes.size === 1 ? 1 + world.upTo(2) : 1 + world.upTo(1);
      for (let started = 0; started < count; started += 1) this.startOrchestrator(one);
    }
    const commands = world.upTo(10);
    for (let begun = 0; begun < commands; begun += 1) this.#person(world.upTo(this.#healMs));
    this.faults.begin(self, this.#healMs);
    await clock.sleep(this.#healMs);
    this.isHealed = true;
    this.faults.heal();
    world.note(null, 'from now on nothing goes wrong any more');
    await this.#rest(self);
    this.#isOver = true;
    return 0;
  }

  async #rest(self: Process): Promise<void> {
    const { world } = this;
    const clock = world.clockOf(self);
    const until = clock.elapsedMs() + MOST_REST_MS;
    let quietSinceMs = clock.elapsedMs();
    while (clock.elapsedMs() - quietSinceMs < QUIET_MS) {
      await clock.sleep(10 * SECOND);
      if (this.observer.unrest() !== undefined) quietSinceMs = clock.elapsedMs();
      // Nothing but waiting is left: for a clock that was set back, mostly.
      world.pollStretch = clock.elapsedMs() - this.#healMs > 15 * MINUTE ? 12 : 1;
      if (clock.elapsedMs() < until) continue;
      this.violate(`liveness: ${this.observer.unrest() ?? 'something'} never came to rest`);
      return;
    }
  }

  async #addTasks(context: RunContext): Promise<void> {
    const { world } = this;
    const count = 3 + world.upTo(5);
    const ids: TaskId[] = [];
    for (let number = 1; number <= count; number += 1) {
      const dependsOn = ids.filter(() => world.chance(0.2));
      const added = await addTask(context, {
        title: `Task number ${number}`,
        body: '',
        priority: world.pick(['p1', 'p3', 'p5']),
        dependsOn,
        areas: world.chance(0.5) ? [world.pick(['src/a/**', 'src/b/**', 'src/**'])] : [],
        accept: world.chance(0.2) ? ['make check'] : [],
        ...(world.chance(0.3) && { agent: world.pick(this.agents).name }),
        ...(world.chance(0.1) && { kind: 'non-code' as const }),
      });
      if (added.kind === 'refused') throw new Error(added.refusal.reason);
      ids.push(added.value.id);
    }
  }

  #person(atMs: number): void {
    const { world } = this;
    const node = this.anyNode();
    const [name, command] = world.pick(commands);
    world.spawn({ kind: 'person', name: `copse ${name}`, node: node.id }, atMs, async (process) => {
      const tasks = [...this.store.records.task.values()].filter(({ state }) => state.status !== 'pending');
      if (tasks.length === 0) return 0;
      const { id } = world.pick(tasks);
      world.note(process, `${name} ${id}`);
      const outcome = await command(contextFor(this, node, process, { kind: 'person', name: 'ada' }), id);
      world.note(process, JSON.stringify(outcome));
      return 0;
    });
  }
}

async function mergeTask(context: RunContext, id: TaskId): Promise<unknown> {
  const queued = await queueTask(context, id);
  return queued.kind === 'done' ? (await landNow(context, [id])).get(id) : queued;
}

const commands: readonly (readonly [string, (context: RunContext, id: TaskId) => Promise<unknown>])[] = [
  ['pause', pauseTask],
  ['pause', pauseTask],
  ['cancel', (context, id) => cancelTask(context, id, null)],
  ['restart', (context, id) => restartTask(context, id, { answer: 'the first one' })],
  ['restart', (context, id) => restartTask(context, id, { answer: 'the first one' })],
  ['resume', (context, id) => resumeTask(context, id, 'go on')],
  ['resume', (context, id) => resumeTask(context, id, 'go on')],
  ['merge', mergeTask],
  ['merge', mergeTask],
  ['delete', (context, id) => deleteTasks(context, [id], { unlink: true })],
  [
    'cleanup',
    (context, id) =>
      removeWorkspace(context, id, { by: 'person', isNamed: true, isForced: true, deleteBranch: false }),
  ],
];

/** In the order of preference: later agents get work when the earlier ones are busy. */
const configs: readonly Config[] = [
  { on_dirty: 'handback', method: 'rebase', policy: 'auto' },
  { on_dirty: 'commit', method: 'merge', policy: 'auto' },
  { on_dirty: 'handback', method: 'squash', policy: 'auto' },
  { on_dirty: 'fail', method: 'rebase', policy: 'review' },
].map(({ on_dirty, method, policy }) =>
  configSchema.parse({
    finish: { on_dirty },
    landing: { method, policy },
    agents: {
      alpha: { command: 'alpha', max: 2, limits: { time: '2m' } },
      beta: {
        command: 'beta',
        max: 1,
        limits: { time: '5m' },
        landing: { method: 'merge', on_conflict: 'skip' },
      },
      gamma: { command: 'gamma', limits: { time: '1m' }, finish: { on_dirty: 'commit' } },
    },
  }),
);
