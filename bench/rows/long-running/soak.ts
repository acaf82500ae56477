/**
 * Whether an orchestrator stays as small as it is: a thousand one-file tasks through one orchestrator, in a repository that does
 * not grow, and what they leave. Measured after a part of the tasks, when caches and rings are full, and at the end; the figures
 * are what each further task adds, and the memory in all. `--quick` runs a tenth, and `COPSE_SOAK_TASKS` sets another number:
 * while the ring of logs still fills, there is no figure of growth but refs.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import type { Context } from '../../../packages/copse/src/board/context.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { openContext } from '../../../packages/copse/src/compose/open.ts';
import { bundle, run } from '../../commands.ts';
import { newSizedRepository } from '../../repositories.ts';
import type { Bench, Result, Row } from '../../row.ts';

const AGENTS = 4;
const LOOK_MS = 500;
const LANDED_AT_ONCE = 100;
/** Tending comes once a minute; a round that began before the last landing is followed by another. */
const TEND_MS = 65_000;
/** A machine that is busy with other work tends an entry of the trash in seconds. */
const ROUNDS = 20;

/** Of 1,000, by then the rings of logs and of the trash have come round. */
const WARM_PART = 0.7;
const { logsKept } = defaultPolicy.maintenance;

/** It removes files of earlier tasks: what grows is not to be the repository, of which Copse keeps lists of files. */
const AGENT = [
  'set -- cp-*.txt; if [ $# -gt 100 ]; then git rm -q "$1" "$2" "$3"; fi',
  'echo "$COPSE_TASK_ID" > "$COPSE_TASK_ID.txt" && git add . && git commit -qm "feat: $COPSE_TASK_ID"',
].join('; ');

export const soak: Row = {
  name: 'soak',
  timeoutMs: 5_400_000,
  async measure(bench) {
    const tasks = bench.isQuick ? 100 : Number(process.env['COPSE_SOAK_TASKS'] ?? 1_000);
    const warm = Math.ceil(tasks * WARM_PART);
    const repository = await newSizedRepository(bench, 'S');
    run(['git', 'checkout', '-q', 'main'], repository);
    writeFileSync(path.join(repository, '.git', 'info', 'exclude'), '/.worktrees/\n/.copse/\n');
    const loop = startLoop(bench, repository);
    const landed = new Landed(repository, loop);
    const before = await measured(landed, warm);
    const after = await measured(landed, tasks);
    loop.kill('SIGTERM');
    await new Promise((resolve) => loop.once('exit', resolve));
    const growth = (what: string, key: keyof Footprint, of: Growth): Result => ({
      what: `${what}, from task ${warm} to task ${tasks}`,
      measured: `${Math.round(after[key] / of.per)}${of.unit}`,
      against: `after ${warm}: ${Math.round(before[key] / of.per)}${of.unit}`,
      figure: (after[key] - before[key]) / (tasks - warm) / of.per,
      goal: { atMost: of.atMost, unit: `${of.unit} a task` },
      limit: 0,
    });
    const memory: Result = {
      what: `memory of the orchestrator, while ${tasks} tasks land`,
      measured: `${inMegabytes(Math.max(...landed.memories))} MB at most`,
      against: `at each ${LANDED_AT_ONCE}: ${landed.memories.map(inMegabytes).join(' ')} MB`,
      figure: Math.max(...landed.memories) / 1024 ** 2,
      goal: { atMost: 120, unit: 'MB' },
      limit: null,
    };
    const refs = growth('refs of Copse', 'refs', { unit: '', atMost: 0.1, per: 1 });
    if (warm < logsKept) return [memory, refs];
    const largest = memoryGrowth(landed.memories);
    return [
      memory,
      largest,
      growth('files in .copse', 'files', { unit: '', atMost: 0.5, per: 1 }),
      refs,
      growth('bytes in .copse without the board', 'bytes', { unit: ' kB', atMost: 2, per: 1_024 }),
    ];
  },
};

/** Of the largest in a hundred, from half of them on: between two moments it depends on when garbage was collected. */
function memoryGrowth(memories: readonly number[]): Result {
  const half = Math.ceil(memories.length / 2);
  const [before, after] = [memories[half - 1] ?? 0, memories.at(-1) ?? 0];
  const [from, to] = [half * LANDED_AT_ONCE, memories.length * LANDED_AT_ONCE];
  return {
    what: `largest memory of the orchestrator, from task ${from} to task ${to}`,
    measured: `${Math.round(after / 1_024)} kB`,
    against: `after ${from}: ${Math.round(before / 1_024)} kB`,
    figure: (after - before) / (to - from) / 1_024,
    goal: { atMost: 10, unit: ' kB a task' },
    limit: 0,
  };
}

interface Growth {
  readonly unit: string;
  readonly atMost: number;
  readonly per: number;
}

const inMegabytes = (bytes: number) => Math.round(bytes / 1024 ** 2);

interface Footprint {
  readonly files: number;
  readonly refs: number;
  readonly bytes: number;
}

/** Adds tasks and waits until they have landed, and notes the memory on the way. */
class Landed {
  readonly repository: string;
  readonly loop: ChildProcess;
  /** The largest while each further hundred landed. */
  readonly memories: number[] = [];
  #added = 0;

  constructor(repository: string, loop: ChildProcess) {
    this.repository = repository;
    this.loop = loop;
  }

  async upTo(tasks: number): Promise<void> {
    const context = await openContext({ cwd: this.repository, env: { USER: 'bench' } });
    try {
      while (this.#added < tasks) {
        for (const end = Math.min(tasks, this.#added + LANDED_AT_ONCE); this.#added < end; this.#added += 1) {
          const outcome = await addTask(context, { title: `task ${this.#added}` });
          if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
        }
        this.memories.push(await this.#largestUntilIdle(context));
      }
    } finally {
      await context.board.close();
    }
  }

  async #largestUntilIdle({ board }: Context): Promise<number> {
    let largest = 0;
    while ((await board.tasks({ finished: false, order: 'urgent', limit: 1 })).length > 0) {
      if (this.loop.exitCode !== null) throw new Error('The orchestrator ended');
      largest = Math.max(largest, memoryOf(this.loop.pid ?? 0));
      await sleep(LOOK_MS);
    }
    return largest;
  }
}

/** When they have landed and tending has come round. */
async function measured(landed: Landed, tasks: number): Promise<Footprint> {
  await landed.upTo(tasks);
  const { repository } = landed;
  for (let round = 0; round < ROUNDS; round += 1) {
    const isTended = untended(repository) === 0;
    // One more round: refs are dropped after the trash was tended.
    await sleep(TEND_MS);
    if (isTended) break;
  }
  const refs = run(['git', 'for-each-ref', '--format=%(refname)', 'refs/copse/', 'refs/heads/'], repository);
  return {
    refs: refs.split('\n').filter((line) => line !== '').length,
    ...sizeOf(path.join(repository, '.copse')),
  };
}

/** Removed worktrees whose files are still there. */
function untended(repository: string): number {
  const trash = path.join(repository, '.copse', 'trash');
  return readdirSync(trash).filter((name) => !existsSync(path.join(trash, name, 'thin'))).length;
}

/** The board grows with its history, which is meant to be kept. */
function sizeOf(folder: string): { readonly files: number; readonly bytes: number } {
  let [files, bytes] = [0, 0];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    if (entry.name.startsWith('board.db') || entry.name === 'backups') continue;
    files += 1;
    if (entry.isDirectory()) {
      const inside = sizeOf(place);
      files += inside.files;
      bytes += inside.bytes;
    } else bytes += (lstatSync(place, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  }
  return { files, bytes };
}

function startLoop(bench: Bench, cwd: string): ChildProcess {
  const [node, ...argv] = bundle;
  const { COPSE_BOARD: _, ...env } = process.env;
  const options = ['--max-agents', String(AGENTS), '--command', AGENT];
  const child = spawn(node, [...argv, 'orchestrate', ...options], {
    cwd,
    env: { ...env, COPSE_BACKGROUND: '0' },
    stdio: 'ignore',
  });
  bench.atEnd(() => child.kill('SIGKILL'));
  return child;
}

function memoryOf(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kilobytes) * 1024;
}
