/**
 * Runs the benchmarks and prints one table.
 *
 *   npm run bench                 all of them; exit code 1 if a goal does not hold
 *   npm run bench -- claims       those whose name contains the word
 *   npm run bench -- --quick      fewer repetitions
 *   npm run bench -- --json       the results as one JSON document
 */

import { parseArgs } from 'node:util';

import { describeMachine } from './machine.ts';
import { type Goal, type Result, type Row, holds } from './row.ts';
import { browserDiff } from './rows/browser/diff.ts';
import { browserFlood } from './rows/browser/flood.ts';
import { browserFollow } from './rows/browser/follow.ts';
import { browserPaint } from './rows/browser/paint.ts';
import { browserReconnect } from './rows/browser/reconnect.ts';
import { claims } from './rows/claims.ts';
import { commandEveryday } from './rows/command-everyday.ts';
import { commandHistory } from './rows/command-history.ts';
import { commandStart } from './rows/command-start.ts';
import { finishedTasks } from './rows/finished-tasks.ts';
import { fleet } from './rows/long-running/fleet.ts';
import { hostile } from './rows/hostile.ts';
import { landingGiven, landingQueue } from './rows/landing-queue.ts';
import { lostMachine } from './rows/long-running/lost-machine.ts';
import { landingEngine } from './rows/landing-engine.ts';
import { orchestration } from './rows/orchestration.ts';
import { queueMakespan } from './rows/queue-makespan.ts';
import { queueSimulation } from './rows/queue-simulation.ts';
import { radar } from './rows/radar.ts';
import { server } from './rows/long-running/server.ts';
import { soak } from './rows/long-running/soak.ts';
import { wakeUp } from './rows/wake-up.ts';
import { watch } from './rows/long-running/watch.ts';
import { travel } from './rows/travel.ts';
import { worktrees } from './rows/worktrees.ts';
import { Scratch } from './scratch.ts';

const rows: readonly Row[] = [
  commandStart,
  commandEveryday,
  commandHistory,
  watch,
  server,
  browserPaint,
  browserFollow,
  browserFlood,
  browserReconnect,
  browserDiff,
  claims,
  fleet,
  finishedTasks,
  wakeUp,
  travel,
  lostMachine,
  worktrees,
  orchestration,
  soak,
  hostile,
  landingEngine,
  queueSimulation,
  queueMakespan,
  landingQueue,
  landingGiven,
  radar,
];

const ROW_TIMEOUT_MS = 60_000;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
});
const chosen = rows.filter(({ name }) => positionals.every((word) => name.includes(word)));
if (chosen.length === 0) {
  console.error(`No benchmark matches; there are: ${rows.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}

const scratch = new Scratch({ isQuick: options.quick });
let isInterrupted = false;
for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => {
    isInterrupted = true;
    void scratch.cleanUp().finally(() => process.exit(exitCode));
  });
}

try {
  const results: Result[] = [];
  for (const row of chosen) {
    if (!options.json) process.stderr.write(`measuring ${row.name} …\n`);
    results.push(...(await measure(row)));
  }
  const machine = await describeMachine(scratch);
  if (options.json) {
    const lines = results.map((result) => ({ ...result, holds: holds(result) }));
    console.log(JSON.stringify({ machine, results: lines }, null, 2));
  } else {
    console.log(table(results));
    console.log(`\n${machine.join(' · ')}`);
    for (const result of results) {
      const { what, broken, why } = result;
      if (broken !== undefined) console.log(`\n${what}: ${broken}`);
      else if (why !== undefined && !holds(result)) console.log(`\n${what}: ${why}`);
    }
  }
  process.exitCode = results.every(holds) ? 0 : 1;
} finally {
  await scratch.cleanUp();
}

/** A row that fails or hangs is a line that does not hold; the others are measured all the same. */
async function measure(row: Row): Promise<readonly Result[]> {
  let timer: NodeJS.Timeout | undefined;
  const { timeoutMs = ROW_TIMEOUT_MS } = row;
  const tooLong = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([row.measure(scratch), tooLong]);
  } catch (error) {
    // It failed because its processes were ended; the process is about to end too.
    if (isInterrupted) await new Promise<never>(() => {});
    const broken = error instanceof Error ? error.message : String(error);
    const goal = { atMost: 0, unit: '' };
    return [
      { what: row.name, measured: 'failed', against: '', figure: Number.NaN, goal, limit: null, broken },
    ];
  } finally {
    clearTimeout(timer);
  }
}

function table(results: readonly Result[]): string {
  const lines = [
    ['what', 'measured', 'against', 'figure', 'goal', 'limit found', 'verdict'],
    ...results.map((result) => {
      const { what, measured, against, figure, goal, limit } = result;
      return [
        what,
        measured,
        against,
        Number.isNaN(figure) ? '' : inUnit(figure, goal),
        Number.isNaN(figure)
          ? ''
          : `${'atMost' in goal ? '≤' : '≥'} ${inUnit('atMost' in goal ? goal.atMost : goal.atLeast, goal)}`,
        limit === null ? '' : inUnit(limit, goal),
        holds(result) ? 'holds' : 'DOES NOT HOLD',
      ];
    }),
  ];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const print = (line: readonly string[]) =>
    line
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  const [head, ...body] = lines;
  return [print(head!), widths.map((width) => '─'.repeat(width)).join('  '), ...body.map(print)].join('\n');
}

function inUnit(figure: number, { unit }: Goal): string {
  const digits = figure >= 100 ? 0 : figure >= 10 ? 1 : 2;
  return `${Number(figure.toFixed(digits)).toLocaleString('en')} ${unit}`;
}
