/** Scripted agents, good and bad. What they write and commit is remembered, so that nothing of it can get lost unnoticed. */

import type { CommitId, TaskId } from '../../packages/copse/src/kernel/ids.ts';
import {
  type RunningTurn,
  type RuntimeOutcome,
  RuntimeUnavailable,
  type Turn,
} from '../../packages/copse/src/agents/ports/runtime.ts';
import type { SimNode } from './node.ts';
import { type Surroundings, endProcesses } from './ports.ts';
import { writeReport } from './report-ports.ts';
import { isSame } from './repository.ts';
import type { Process } from './world.ts';

export const SHARED_FILE = 'shared.txt';

/** Everything that agents ever made, and whose it is. */
export interface Work {
  /** Content that is in no commit yet, by the attempt that wrote it. */
  readonly written: Map<string, string>;
  readonly commits: { readonly id: CommitId; readonly node: SimNode; readonly task: TaskId }[];
  count: number;
}

export interface AgentSurroundings extends Surroundings {
  readonly work: Work;
  /** Agents do their best from now on. */
  readonly isHealed: boolean;
  violate(rule: string): void;
}

const behaviours = [
  'works',
  'works',
  'works',
  'works',
  'works',
  'leaves dirt',
  'crashes',
  'crashes',
  'hangs',
  'asks',
  'finds nothing',
  'reports garbage',
  'lingers',
  'forks',
  'is limited',
  'finishes twice',
] as const;
type Behaviour = (typeof behaviours)[number];

export async function startTurn(
  of: AgentSurroundings,
  node: SimNode,
  runner: Process,
  turn: Turn,
): Promise<RunningTurn> {
  const { world } = of;
  return world.call(runner, `start a turn of ${turn.task}`, () => {
    if (world.chance(0.01)) throw new RuntimeUnavailable('The program is not installed.');
    for (const other of world.alive((one) => one.task === turn.task && one.node === runner.node))
      if ((other.kind === 'agent' || other.kind === 'child') && other.attempt !== turn.attempt)
        of.violate(
          `15: ${other.name} of an earlier attempt is still at work when the next agent of ${turn.task} starts`,
        );
    let isStopped = false;
    const process = world.spawn(
      {
        kind: 'agent',
        name: `agent ${turn.task}`,
        node: runner.node,
        parent: runner,
        attempt: turn.attempt,
        session: turn.session,
        task: turn.task,
        token: runner.token,
        folder: turn.folder,
        isStubborn: world.chance(0.2),
      },
      world.upTo(1_000),
      (self) => new Agent(of, node, self, turn).run(),
    );
    const ended = new Promise<RuntimeOutcome>((resolve) => {
      process.onExit.push(() =>
        world.post(runner, 'hears that its agent is gone', () => resolve(outcomeOf(process, isStopped))),
      );
    });
    return {
      process: { pid: process.pid, startTime: process.startTime },
      ended,
      stop: async ({ graceMs }) => {
        isStopped = true;
        await endProcesses(world, runner, node.id, [process], graceMs);
      },
    };
  });
}

function outcomeOf({ exitCode }: Process, isStopped: boolean): RuntimeOutcome {
  if (isStopped) return { kind: 'cancelled' };
  if (exitCode === 0) return { kind: 'completed', exitCode };
  if (exitCode === 75) return { kind: 'limit', until: null, reason: 'too much' };
  return {
    kind: 'crashed',
    exitCode,
    reason: exitCode === null ? 'it was killed' : `it ended with ${exitCode}`,
  };
}

class Agent {
  readonly #of: AgentSurroundings;
  readonly #node: SimNode;
  readonly #process: Process;
  readonly #turn: Turn;

  constructor(of: AgentSurroundings, node: SimNode, process: Process, turn: Turn) {
    this.#of = of;
    this.#node = node;
    this.#process = process;
    this.#turn = turn;
  }

  async run(): Promise<number> {
    const { world, isHealed } = this.#of;
    // Work without files: there is nothing but a report.
    if (!this.#node.folders.has(this.#turn.folder))
      return this.#behave(world.pick(['asks', 'finds nothing', 'hangs', 'is limited'] as const));
    const isAskedAgain = this.#turn.number > 1 || /conflict/i.test(this.#turn.prompt);
    if (isAskedAgain && world.chance(isHealed ? 0.95 : 0.75)) return this.#doAsAsked();
    const behaviour = isHealed && world.chance(0.8) ? 'works' : world.pick(behaviours);
    world.note(this.#process, behaviour);
    return this.#behave(behaviour);
  }

  async #behave(behaviour: Behaviour): Promise<number> {
    const { world } = this.#of;
    switch (behaviour) {
      case 'works':
        await this.#work();
        if (world.chance(0.5))
          await this.#report('{"status": "finished", "summary": "all done", "phase": "shipping"}');
        return 0;
      case 'leaves dirt':
        await this.#work();
        await this.#edit(`dirt-${this.#turn.task}`);
        return 0;
      case 'crashes':
        await this.#edit(`${this.#turn.task}/half`);
        if (world.chance(0.5)) await this.#work();
        await this.#edit(`${this.#turn.task}/half`);
        return 1;
      case 'hangs':
        await this.#edit(`${this.#turn.task}/hanging`);
        return this.#forever();
      case 'asks':
        await this.#edit(`${this.#turn.task}/question`);
        await this.#report('{"status": "stuck", "reason": "which one?"}');
        return 0;
      case 'finds nothing':
        await this.#report('{"status": "finished", "noChanges": true}');
        return 0;
      case 'reports garbage':
        await this.#report('{"status": "fini');
        await this.#work();
        await this.#report('{"phase": 7, "status": "finished", "ledger": [{"text": "a lesson"}]}');
        return 0;
      case 'lingers':
        await this.#work();
        await this.#report('{"status": "finished"}');
        return this.#forever();
      case 'forks':
        this.#fork();
        await this.#work();
        return 0;
      case 'is limited':
        await this.#edit(`${this.#turn.task}/limited`);
        return 75;
      case 'finishes twice':
        await this.#work();
        await this.#report('{"status": "finished"}');
        await this.#report('{"status": "finished", "summary": "really"}');
        return 0;
      default:
        throw new Error(`No agent behaves like ${String(behaviour satisfies never)}`);
    }
  }

  /** Commits what is there, brings the target in, and keeps what both sides meant. */
  async #doAsAsked(): Promise<number> {
    const { world } = this.#of;
    if (this.#node.headTree(this.#turn.folder).size < 3 || world.chance(0.5)) await this.#work();
    await this.#commit();
    await this.#bringTarget();
    return 0;
  }

  async #work(): Promise<void> {
    const { world } = this.#of;
    const steps = 1 + world.upTo(2);
    for (let step = 0; step < steps; step += 1) {
      await this.#pause(15_000);
      await this.#edit(`${this.#turn.task}/${step}`);
      if (world.chance(0.4)) await this.#editShared();
      if (world.chance(0.4)) await this.#commit();
    }
    await this.#commit();
  }

  #pause(mostMs: number): Promise<void> {
    const { world } = this.#of;
    return world.clockOf(this.#process).sleep(world.upTo(mostMs));
  }

  async #forever(): Promise<never> {
    for (;;) await this.#pause(3_600_000);
  }

  #act<T>(name: string, effect: () => T): Promise<T> {
    return this.#of.world.call(this.#process, name, effect);
  }

  async #edit(path: string): Promise<void> {
    if (this.#turn.folder === this.#node.root) return;
    await this.#act(`writes ${path}`, () => {
      const { work } = this.#of;
      work.count += 1;
      this.#write(path, `${this.#turn.task} wrote this, the ${work.count}th of all`);
    });
  }

  #editShared(): Promise<void> {
    return this.#act(`writes ${SHARED_FILE}`, () => {
      const lines = (this.#node.requireFolder(this.#turn.folder).files.get(SHARED_FILE) ?? '').split('\n');
      if (!lines.includes(this.#turn.task)) this.#write(SHARED_FILE, [...lines, this.#turn.task].join('\n'));
    });
  }

  /** What it writes over itself is its own affair; what an earlier attempt left must be somewhere else by then. */
  #write(path: string, content: string): void {
    const { written } = this.#of.work;
    const { files } = this.#node.requireFolder(this.#turn.folder);
    const before = files.get(path);
    if (before !== undefined && written.get(before) === this.#turn.attempt) written.delete(before);
    files.set(path, content);
    written.set(content, this.#turn.attempt);
  }

  #commit(): Promise<void> {
    return this.#act('commits', () => {
      const { work, world } = this.#of;
      work.count += 1;
      const trailer = world.chance(0.5) ? `\n\nTask: ${this.#turn.task}\n` : '';
      const message = `feat: ${this.#turn.task} for the ${work.count}th time${trailer}`;
      const id = this.#node.commitAll(this.#turn.folder, message, this.#of.world.elapsedMs);
      if (id !== null) work.commits.push({ id, node: this.#node, task: this.#turn.task });
    });
  }

  #bringTarget(): Promise<void> {
    return this.#act('brings the target in', () => {
      const { work, world } = this.#of;
      const { folder } = this.#turn;
      const { repository, target } = this.#node.shared;
      const head = this.#node.headOf(folder);
      const branch = this.#node.registrations.get(folder)?.branch;
      const { files } = this.#node.requireFolder(folder);
      if (head === undefined || branch === undefined || !isSame(files, this.#node.headTree(folder))) return;
      if (repository.isAncestor(target, head)) return;
      const merged = repository.merge(head, target);
      const tree = new Map(merged.tree);
      for (const path of merged.conflicts) {
        const sides = [target, head].map((side) => repository.require(side).tree.get(path) ?? '');
        tree.set(path, [...new Set(sides.flatMap((side) => side.split('\n')))].join('\n'));
      }
      const id = repository.write([head, target], tree, `Merge main into ${branch}`, world.elapsedMs);
      this.#node.refs.set(`refs/heads/${branch}`, id);
      files.clear();
      for (const [path, content] of tree) files.set(path, content);
      work.commits.push({ id, node: this.#node, task: this.#turn.task });
    });
  }

  #report(text: string): Promise<void> {
    return this.#act(`reports ${text}`, () => {
      const file = this.#of.reports.get(this.#turn.folder) ?? { text: '', watchers: new Set() };
      this.#of.reports.set(this.#turn.folder, file);
      writeReport(file, text);
    });
  }

  /** A server that was to outlive it. */
  #fork(): void {
    const { name, node, attempt, session, task, token, folder } = this.#process;
    const of = {
      kind: 'child',
      name: `child of ${name}`,
      node,
      attempt,
      session,
      task,
      token,
      folder,
    } as const;
    this.#of.world.spawn({ ...of, parent: this.#process }, 0, async (self) => {
      for (;;) await this.#of.world.clockOf(self).sleep(3_600_000);
    });
  }
}
