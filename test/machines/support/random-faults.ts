/**
 * Faults of a fleet, drawn from a seed: of the network between a machine and the board, of the server, of the processes of a
 * machine, and of the remote. Each lasts as long as it is told, and afterwards everything is there again.
 */

import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { kill } from '../../support/agents/runs.ts';
import type { PostgresServer } from '../../support/board/postgres.ts';
import { git } from '../../support/cli.ts';
import { runGit } from '../../support/git/git-shell.ts';
import type { Fleet, Machine } from './nodes.ts';
import type { Proxy } from './proxy.ts';

export interface Scene {
  readonly fleet: Fleet;
  /** The way of each machine to the board. */
  readonly proxies: ReadonlyMap<Machine, Proxy>;
  /** Only a server of its own can be killed. */
  readonly server?: PostgresServer;
  /** A new machine, with a way of its own to the board. */
  readonly join: () => Promise<Machine>;
}

export interface PlannedFault {
  readonly kind: FaultKind;
  readonly machine: number;
  readonly isEverywhere: boolean;
  readonly ms: number;
  /** Events of the board between the fault before and this one. */
  readonly after: number;
  /** It comes as soon as a command was acknowledged; otherwise while the command is under way. */
  readonly isAfterAdd: boolean;
}

const NETWORK = ['blackhole', 'stall', 'half-open', 'delay', 'cut', 'refuse'] as const;
const QUICK = [...NETWORK, 'kill-runner', 'stop-runner', 'stop-machine', 'foreign-pushes'] as const;
/** Recovery takes up to a minute: until a lost lead is free, or a remote that refused a push is asked again. */
const SLOW = [
  'kill-node',
  'kill-machine',
  'lose-machine',
  'kill-server',
  'remote-away',
  'remote-refuses',
] as const;
const KINDS = [...QUICK, ...SLOW] as const;
type FaultKind = (typeof KINDS)[number];

export interface FaultLimits {
  readonly machines: number;
  readonly count: number;
  readonly leastMs: number;
  readonly mostMs: number;
  readonly mostEvents: number;
  readonly isSlow: boolean;
}

export function drawFaults(draw: () => number, limits: FaultLimits): readonly PlannedFault[] {
  const kinds = limits.isSlow ? KINDS : QUICK;
  return Array.from({ length: limits.count }, () => {
    const kind = kinds[Math.floor(draw() * kinds.length)] ?? 'cut';
    const machine = Math.floor(draw() * limits.machines);
    const isEverywhere = draw() < 0.3;
    const ms = Math.round(limits.leastMs + draw() * (limits.mostMs - limits.leastMs));
    return {
      kind,
      machine,
      isEverywhere,
      ms,
      after: Math.floor(draw() * limits.mostEvents),
      isAfterAdd: ms % 2 === 0,
    };
  });
}

/** Lets it happen, waits as long as it lasts, and ends it. */
export async function suffer(scene: Scene, fault: PlannedFault): Promise<void> {
  const { fleet, proxies } = scene;
  const there = fleet.machines.filter(isThere);
  const one = there[fault.machine % there.length];
  if (one === undefined) throw new Error('There is no machine');
  const hit = fault.isEverywhere ? there : [one];
  switch (fault.kind) {
    case 'delay':
    case 'blackhole':
    case 'stall':
    case 'half-open':
    case 'cut':
    case 'refuse': {
      const ways = hit.flatMap((machine) => proxies.get(machine) ?? []);
      const { kind } = fault;
      for (const way of ways) await way.apply(kind === 'delay' ? { kind, ms: 300 } : { kind });
      await sleep(fault.ms);
      for (const way of ways) await way.heal();
      return;
    }
    case 'lose-machine':
      // What the remote refused is only on its machine, and its landing would wait for a person.
      while ((await fleet.board.openLandings()).some(({ waiting }) => waiting?.kind === 'head_missing'))
        await sleep(200);
      // Never the first, where the test reads and adds.
      await there.slice(1).at(-1)?.lose();
      await sleep(fault.ms);
      return restart([await scene.join()]);
    case 'foreign-pushes':
      return pushForeign(fleet, fault.ms);
    case 'kill-server':
      return scene.server?.crash();
    case 'kill-node':
      for (const { orchestrators } of hit) orchestrators.at(-1)?.signal('SIGKILL');
      await sleep(fault.ms);
      return restart(hit);
    case 'kill-machine':
      for (const machine of hit) await machine.kill();
      await sleep(fault.ms);
      return restart(hit);
    case 'kill-runner':
      for (const pid of (await runnersOf(fleet, one)).slice(0, 1)) kill(pid, 'SIGKILL');
      return;
    case 'stop-runner':
      return stopped((await runnersOf(fleet, one)).slice(0, 1), fault.ms);
    case 'stop-machine':
      return stopped(one.processes(), fault.ms);
    case 'remote-away': {
      const away = fleet.away();
      await sleep(fault.ms);
      return away.back();
    }
    case 'remote-refuses': {
      const hook = path.join(fleet.remote, 'hooks', 'pre-receive');
      writeFileSync(hook, '#!/bin/sh\necho "pushes are closed" >&2\nexit 1\n');
      chmodSync(hook, 0o755);
      await sleep(fault.ms);
      return rmSync(hook);
    }
    default:
      throw new Error(`There is no fault ${String(fault.kind satisfies never)}`);
  }
}

/** Machines whose node ended get a new one. */
export function restart(machines: readonly Machine[]): void {
  for (const machine of machines)
    if (isThere(machine) && !(machine.orchestrators.at(-1)?.isRunning ?? false)) machine.start();
}

export function isThere({ folder }: Machine): boolean {
  return existsSync(folder);
}

/** A person pushes to the target all the time. */
async function pushForeign({ place, remote }: Fleet, ms: number): Promise<void> {
  const clone = path.join(place, `person ${(persons += 1)}`);
  git(place, 'clone', '--quiet', remote, clone);
  for (const began = performance.now(); performance.now() - began < ms; await sleep(300)) {
    writeFileSync(path.join(clone, `person ${persons}.txt`), `${performance.now()}\n`);
    git(clone, 'add', '--all');
    git(clone, 'commit', '--quiet', '--message=chore: by a person');
    // Another push may be first.
    runGit({ cwd: clone, argv: ['pull', '--quiet', '--rebase'] });
    runGit({ cwd: clone, argv: ['push', '--quiet'] });
  }
}

let persons = 0;

async function stopped(pids: readonly number[], ms: number): Promise<void> {
  for (const pid of pids) kill(pid, 'SIGSTOP');
  await sleep(ms);
  for (const pid of pids) kill(pid, 'SIGCONT');
}

/** By the attempts that the board has. */
async function runnersOf({ board }: Fleet, machine: Machine): Promise<readonly number[]> {
  const running = await board.list('attempt');
  const pids = new Set(running.flatMap(({ end, process }) => (end === null && process ? [process.pid] : [])));
  return machine.processes().filter((pid) => pids.has(pid));
}
