/** `copse watch` on a terminal with a thousand tasks: how soon it shows them, and what it costs while nothing happens. */

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { bareNode, filledRepository, launcher, run } from '../../commands.ts';
import { coreShareOf, megabytesOf } from '../../processes.ts';
import { type Row, inMs, median } from '../../row.ts';

const TASKS = 1_000;
const GOALS = { firstFrame: 5, megabytes: 60, percent: 2 } as const;
/** In the first frame with tasks. */
const LAST = `READY (${TASKS})`;

export const watch: Row = {
  name: 'watch',
  timeoutMs: 300_000,
  async measure(bench) {
    const repository = await filledRepository(bench, { ready: TASKS, done: 0 });
    const timesMs = await compareStarts(repository, bench.isQuick ? 10 : 30);
    const idle = await measureIdle(repository, bench.isQuick ? 5_000 : 20_000);
    return [
      {
        what: `./copse watch, first frame, ${TASKS} tasks`,
        measured: inMs(timesMs.watch),
        against: `node -e 0: ${inMs(timesMs.node)}`,
        figure: timesMs.watch / timesMs.node,
        goal: { atMost: GOALS.firstFrame, unit: '×' },
        limit: null,
      },
      {
        what: `./copse watch, memory, ${TASKS} tasks`,
        measured: `${idle.megabytes.toFixed(1)} MB`,
        against: `node that waits: ${idle.bareMegabytes.toFixed(1)} MB`,
        figure: idle.megabytes,
        goal: { atMost: GOALS.megabytes, unit: 'MB' },
        limit: null,
      },
      {
        what: './copse watch, processor while nothing happens',
        measured: `${idle.percent.toFixed(2)} % of a core`,
        against: 'nothing',
        figure: idle.percent,
        goal: { atMost: GOALS.percent, unit: '%' },
        limit: null,
      },
    ];
  },
};

/** In turns. The time to quit does not count. */
async function compareStarts(repository: string, repetitions: number) {
  const [node, watchMs]: [number[], number[]] = [[], []];
  for (let turn = -2; turn < repetitions; turn += 1) {
    const nodeMs = timed(() => run(bareNode, repository));
    const beganMs = performance.now();
    const running = await start(repository);
    const firstMs = performance.now() - beganMs;
    await running.quit();
    if (turn < 0) continue;
    node.push(nodeMs);
    watchMs.push(firstMs);
  }
  return { node: median(node), watch: median(watchMs) };
}

function timed(work: () => unknown): number {
  const beganMs = performance.now();
  work();
  return performance.now() - beganMs;
}

interface Running {
  readonly child: ChildProcess;
  quit(): Promise<void>;
}

/** Resolves with the first whole frame. */
async function start(repository: string): Promise<Running> {
  // `script` of util-linux gives it a terminal.
  const line = 'stty cols 80 rows 24; exec "$LAUNCHER" watch';
  const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    cwd: repository,
    env: { ...process.env, LAUNCHER: launcher, TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let seen = '';
  const over = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`copse watch ended: ${seen}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen += text;
      if (seen.includes(LAST)) resolve();
    });
  });
  return {
    child,
    async quit() {
      child.stdin.write('q');
      await over;
    },
  };
}

async function measureIdle(repository: string, ms: number) {
  const running = await start(repository);
  const pid = nodeBelow(running.child.pid ?? 0);
  await sleep(3_000);
  const percent = await coreShareOf(pid, () => sleep(ms));
  const megabytes = megabytesOf(pid);
  await running.quit();
  const bare = spawn(bareNode[0], ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' });
  await sleep(1_000);
  const bareMegabytes = megabytesOf(bare.pid ?? 0);
  bare.kill('SIGKILL');
  return { percent, megabytes, bareMegabytes };
}

/** The process of watch is the last one in the chain of script, shell and guard. */
function nodeBelow(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const [first] = children === '' ? [] : children.split(' ').map(Number);
  return first === undefined ? pid : nodeBelow(first);
}
