/**
 * Whether an orchestrator stays as small as it is: a thousand one-file tasks through one orchestrator, and what they leave.
 * Measured after a part of the tasks, when caches and rings are full, and at the end; the figures are what each further task
 * adds. `--quick` runs a tenth.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { lstatSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { addTask } from '../../packages/copse/src/tasks/act/tasks.ts';
import { openContext } from '../../packages/copse/src/compose/open.ts';
import { bundle, run } from '../commands.ts';
import { newSizedRepository } from '../repositories.ts';
import type { Bench, Result, Row } from '../row.ts';

const AGENTS = 4;
const LOOK_MS = 500;
/** Tending comes once a minute; what is left after the last task is looked at after one more. */
const TEND_MS = 65_000;

const AGENT =
  'echo "$COPSE_TASK_ID" > "$COPSE_TASK_ID.txt" && git add . && git commit -qm "feat: $COPSE_TASK_ID"';

export const soak: Row = {
  name: 'soak',
  timeoutMs: 2_400_000,
  async measure(bench) {
    const tasks = bench.isQuick ? 100 : 1_000;
    // By then the rings of logs and of the trash have come round.
    const warm = bench.isQuick ? 60 : 500;
    const repository = await newSizedRepository(bench, 'S');
    run(['git', 'checkout', '-q', 'main'], repository);
    writeFileSync(path.join(repository, '.git', 'info', 'exclude'), '/.worktrees/\n/.copse/\n');
    const loop = startLoop(bench, repository);
    const before = await measured(repository, loop, warm);
    const after = await measured(repository, loop, tasks);
    loop.kill('SIGTERM');
    await new Promise((resolve) => loop.once('exit', resolve));
    const more = tasks - warm;
    const growth = (what: keyof Footprint) => (after[what] - before[what]) / more;
    const row = (
      what: string,
      key: keyof Footprint,
      { unit, atMost, per = 1 }: { readonly unit: string; readonly atMost: number; readonly per?: number },
    ): Result => ({
      what: `${what}, from task ${warm} to task ${tasks}`,
      measured: `${Math.round(after[key] / per)}${unit}`,
      against: `after ${warm}: ${Math.round(before[key] / per)}${unit}`,
      figure: growth(key) / per,
      goal: { atMost, unit: `${unit} a task` },
      limit: 0,
    });
    return [
      // A tenth of the tasks ends while caches and the heap still fill.
      row('memory of the orchestrator', 'memory', {
        unit: ' kB',
        atMost: bench.isQuick ? 1_000 : 50,
        per: 1_024,
      }),
      row('files in .copse', 'files', { unit: '', atMost: bench.isQuick ? 8 : 0.5 }),
      row('refs of Copse', 'refs', { unit: '', atMost: 0.1 }),
      row('bytes in .copse without the board', 'bytes', {
        unit: ' kB',
        atMost: bench.isQuick ? 60 : 2,
        per: 1_024,
      }),
    ];
  },
};

interface Footprint {
  readonly memory: number;
  readonly files: number;
  readonly refs: number;
  readonly bytes: number;
}

let added = 0;

/** Adds tasks up to this number, and waits until all have landed and tending has come round. */
async function measured(repository: string, loop: ChildProcess, tasks: number): Promise<Footprint> {
  const context = await openContext({ cwd: repository, env: { USER: 'bench' } });
  try {
    for (; added < tasks; added += 1) {
      const outcome = await addTask(context, { title: `task ${added}` });
      if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
    }
    for (;;) {
      const open = await context.board.tasks({ finished: false, order: 'urgent', limit: 1 });
      if (open.length === 0) break;
      if (loop.exitCode !== null) throw new Error('The orchestrator ended');
      await sleep(LOOK_MS);
    }
  } finally {
    await context.board.close();
  }
  await sleep(TEND_MS);
  const refs = run(['git', 'for-each-ref', '--format=%(refname)', 'refs/copse/', 'refs/heads/'], repository);
  return {
    memory: memoryOf(loop.pid ?? 0),
    refs: refs.split('\n').filter((line) => line !== '').length,
    ...sizeOf(path.join(repository, '.copse')),
  };
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
