/**
 * Whole runs of two or three machines under random faults: of the network, of PostgreSQL, of processes and of the remote. Then
 * the faults end, and everything has to come to rest: all tasks land, nothing is left behind, and the checker, which knows
 * only the export and plain git, finds nothing wrong.
 *
 * COPSE_SEED repeats a run, as far as processes can be repeated; COPSE_FLEETS makes it more of them, from a seed of
 * the clock, with long outages.
 */

import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, it } from 'vitest';

import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { canSeeProcesses } from '../../support/agents/runs.ts';
import { startPostgres } from '../../support/board/postgres.ts';
import { newArea, startCopse } from '../../support/cli.ts';
import { isLong } from '../../support/long.ts';
import { drawing } from '../../support/workspaces/workspace-chance.ts';
import { forEachAtOnce } from '../../support/workspaces/workspace-processes.ts';
import { seenBy, violations } from '../support/checker.ts';
import { Fleet, type Machine } from '../support/nodes.ts';
import { Proxy } from '../support/proxy.ts';
import {
  type PlannedFault,
  type Scene,
  drawFaults,
  isThere,
  restart,
  suffer,
} from '../support/random-faults.ts';

const RUNS = Number(process.env['COPSE_FLEETS'] ?? 1);
const isShort =
  !isLong && process.env['COPSE_FLEETS'] === undefined && process.env['COPSE_SEED'] === undefined;
/** Most of a run is waiting. */
const AT_ONCE = 2;
const REST_MS = 150_000;

const first = process.env['COPSE_SEED'];
/** The same runs each time; with COPSE_FLEETS others. */
const USUAL = 5;
const seeds = Array.from(
  { length: first === undefined ? RUNS : Number(process.env['COPSE_FLEETS'] ?? 1) },
  (_, index) =>
    Number(first ?? (process.env['COPSE_FLEETS'] === undefined ? USUAL : Date.now() % 1_000_000)) + index,
);

const area = newArea();

/** Two commits and a file in between that is not committed; the next agent goes on with what it finds. */
const AGENT = `
name=$COPSE_TASK_ID-$COPSE_ATTEMPT_ID
echo "first of $name" >"$name.one" && commit "$name.one"
say committed "$(git rev-parse HEAD) $PWD"
echo "second of $name" >"$name.two"
sleep PAUSE
git add --all -- '*.one' '*.two' && git commit --quiet --message "feat: all of $name" || exit 1
say committed "$(git rev-parse HEAD) $PWD"
finish`;

it.runIf(canSeeProcesses)(
  `${seeds.length} runs of several machines with random faults lose nothing and land everything once`,
  async () => {
    const failed: string[] = [];
    await forEachAtOnce(seeds, AT_ONCE, async (seed) => {
      const problem = await survive(seed);
      if (problem !== undefined) failed.push(problem);
      // At once: a hundred runs take hours.
      if (seeds.length > 1) console.log(problem ?? `COPSE_SEED=${seed} passed`);
    });
    expect(failed).toEqual([]);
  },
  seeds.length * 600_000,
);

/** What went wrong, with everything that a person needs to investigate it. */
async function survive(seed: number): Promise<string | undefined> {
  const draw = drawing(seed);
  await using opened = new AsyncDisposableStack();
  const server = isShort ? undefined : await startPostgres({ durable: true });
  if (server !== undefined) opened.defer(() => server.stop());
  const machines = isShort || draw() < 0.5 ? 2 : 3;
  await using fleet = await Fleet.open(area, 0, {
    agent: AGENT.replace('PAUSE', isShort ? '0.3' : String(0.2 + draw() * 3)),
    policy: { max_agents: 2, max_retries: 50, lease: '2s', lease_renewal: '400ms' },
    ...(server && { server: server.url }),
  });
  const proxies = new Map<Machine, Proxy>();
  const join = async () => {
    const way = opened.use(await Proxy.to(fleet.url));
    const machine = fleet.join(`machine ${fleet.machines.length + 1}`, way.through(fleet.url));
    proxies.set(machine, way);
    return machine;
  };
  for (let number = 1; number <= machines; number += 1) await join();
  const limits = isShort
    ? { count: 1, leastMs: 300, mostMs: 2_000, mostEvents: 15 }
    : {
        count: 3 + Math.floor(draw() * 4),
        leastMs: 2_000,
        mostMs: draw() < 0.2 ? 60_000 : 10_000,
        mostEvents: 40,
      };
  const faults = drawFaults(draw, { ...limits, machines, isSlow: server !== undefined });
  const scene: Scene = { fleet, proxies, join, ...(server && { server }) };
  const did: string[] = [];
  try {
    await run(scene, faults, { tasks: isShort ? 2 : 3 + Math.floor(draw() * 3), did });
    return undefined;
  } catch (error) {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `COPSE_SEED=${seed} (${did.join(', ')}): ${what}\n${await story(fleet)}`;
  }
}

async function run(
  scene: Scene,
  faults: readonly PlannedFault[],
  { tasks, did }: { readonly tasks: number; readonly did: string[] },
): Promise<void> {
  const { fleet } = scene;
  const acknowledged: string[] = [
    ...(await fleet.add(...Array.from({ length: tasks }, (_, index) => `task ${index}`))),
  ];
  const reader = fleet.machine(1);
  const follower = new Follower(reader);
  const saidBy = () => `; it said: ${follower.said}`;
  // A command that begins during an outage says so and ends.
  await until(() => follower.numbers.length > 0, 'the follower began', saidBy);
  restart(fleet.machines);
  for (const fault of faults) {
    await aMomentLater(fleet, fault.after);
    did.push(
      `${fault.kind}${fault.isEverywhere ? ' everywhere' : ` on ${fault.machine + 1}`} ${fault.ms} ms`,
    );
    const adding = reader.copse('add', `during ${fault.kind}`, '--json');
    if (fault.isAfterAdd) await adding;
    await suffer(scene, fault);
    const added = await adding;
    if (added.code === 0) acknowledged.push((JSON.parse(added.stdout) as { id: string }).id);
  }
  did.push('rest');
  restart(fleet.machines);
  await untilRest(fleet);
  did.push('stop');
  const exported = await reader.copse('export');
  expect(exported).toMatchObject({ code: 0 });
  const events = await fleet.board.lastEvent();
  await until(() => (follower.numbers.at(-1) ?? 0) >= events, 'the follower saw the last event', saidBy);
  const evidence = {
    exported: exported.stdout,
    remote: fleet.remote,
    clones: fleet.machines.filter(isThere).map(({ folder }) => folder),
    target: 'main',
    acknowledged,
    committed: committedIn(fleet),
    followed: follower.numbers.slice(0, events),
  };
  follower.end();
  const found = violations(evidence);
  if (found.length > 0) throw new Error(`The checker found:\n${found.join('\n')}`);
  const seen = seenBy(evidence);
  expect(seen.landed).toBeGreaterThanOrEqual(acknowledged.length);
  expect(seen.claims).toBeGreaterThanOrEqual(acknowledged.length);
  expect(seen.snapshots).toBeGreaterThan(0);
}

/** What agents committed on machines that are left. */
function committedIn(fleet: Fleet): readonly string[] {
  const folders = fleet.machines.filter(isThere).map(({ folder }) => `${folder}/`);
  return fleet.said().flatMap((line) => {
    const isLeft = line.startsWith('committed ') && folders.some((folder) => line.includes(folder));
    return isLeft ? [line.split(' ')[2] ?? ''] : [];
  });
}

/** Counted in events, so that a busy computer does not get all faults before its first task; and not for ever. */
async function aMomentLater(fleet: Fleet, count: number): Promise<void> {
  const until = (await fleet.board.lastEvent()) + count;
  for (let looks = 0; looks < 200 && (await fleet.board.lastEvent()) < until; looks += 1) await sleep(50);
}

/** Every task landed, nothing is left of those that had one attempt, and the nodes end when they are told to. */
async function untilRest(fleet: Fleet): Promise<void> {
  const open = async () =>
    (await fleet.board.tasks({ order: 'urgent' })).filter(({ state }) => state.status !== 'done');
  await until(async () => (await open()).length === 0, 'all tasks are done');
  const there = fleet.machines.filter(isThere);
  // A machine that lost its task keeps work that did not land.
  const tasks = await fleet.board.tasks({ order: 'urgent' });
  const once = tasks.filter(({ token }) => token === 1).map(({ id }) => id);
  const left = () => [...fleet.refs().keys(), ...there.flatMap((machine) => machine.leftBehind())];
  await until(() => !left().some((name) => once.some((id) => name.includes(id))), 'nothing is left of them');
  expect(there.map(({ orchestrators }) => orchestrators.at(-1)?.isRunning)).not.toContain(false);
  for (const { orchestrators } of there) orchestrators.at(-1)?.signal('SIGINT');
  await until(() => there.every(({ orchestrators }) => !orchestrators.at(-1)?.isRunning), 'the nodes end');
  expect(await fleet.board.openLandings()).toEqual([]);
}

async function until(
  isSo: () => boolean | Promise<boolean>,
  what: string,
  more: () => string = () => '',
): Promise<void> {
  for (const began = performance.now(); !(await isSo()); await sleep(100))
    if (performance.now() - began > REST_MS) throw new Error(`It never came to rest: ${what}${more()}`);
}

/** Reads events through the way of a machine, with its faults. */
class Follower {
  readonly numbers: number[] = [];
  /** Its errors, and how it ended. */
  said = '';
  readonly #child: ChildProcess;
  #rest = '';

  constructor({ folder, env }: Machine) {
    this.#child = startCopse(['events', '--follow', '--json', '--after', '0'], { cwd: folder, env });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.said += text));
    this.#child.once('exit', (code, signal) => (this.said += `ended: ${code ?? signal}`));
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = `${this.#rest}${text}`.split('\n');
      this.#rest = lines.pop() ?? '';
      this.numbers.push(...lines.map((line) => (JSON.parse(line) as { number: number }).number));
    });
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}

async function story(fleet: Fleet): Promise<string> {
  const tasks = await fleet.board.tasks({ order: 'urgent' }).catch(() => []);
  const states = tasks.map(
    ({ id, state }: { id: TaskId; state: unknown }) => `${id} ${JSON.stringify(state)}`,
  );
  const there = fleet.machines.find(isThere);
  const events = await there?.copse('events').then(({ stdout }) => stdout);
  return [...states, events, fleet.story()].join('\n');
}
