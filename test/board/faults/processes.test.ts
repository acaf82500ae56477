/**
 * Claimers and writers on one board, ended by SIGKILL at random moments and started anew: no task is claimed twice, nothing
 * acknowledged is lost, and no process ever hears that the database is locked.
 *
 * COPSE_FAULT_SECONDS makes it longer, with eight claimers and sixteen writers.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import {
  type BoardEvent,
  type RecordedEvent,
  replay,
} from '../../../packages/copse/src/board/rules/event.ts';
import { type EventNumber, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import type { Task } from '../../../packages/copse/src/tasks/rules/task.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import { engines, newPlace, person } from '../../support/board/boards.ts';
import { often } from '../../support/long.ts';
import { newTask } from '../../support/records/tasks.ts';
import { bundleWorker } from '../../support/agents/worker-program.ts';
import { definition as blank } from '../../support/records/world.ts';

const isSurvival = process.env['COPSE_FAULT_SECONDS'] !== undefined;
const CLAIMERS = isSurvival ? 8 : often({ short: 3, long: 4 });
const WRITERS = isSurvival ? 16 : often({ short: 5, long: 6 });
const TASKS = 1_500;
const KILL_EVERY_MS = 60;
/** Of kills, of claims and of entries, however long a busy machine takes for them. */
const LEAST_KILLS = often({ short: 15, long: 20 });
const LEAST_SAID = often({ short: 40, long: 60 });
const seconds = often({ short: 1, long: 1, variable: 'COPSE_FAULT_SECONDS' });

const worker = bundleWorker(new URL('./board-worker.ts', import.meta.url));

/** A process that is started again whenever it is killed, and every whole line it ever said. */
class Hammer {
  readonly lines: string[] = [];
  kills = 0;
  #process: ChildProcess;
  readonly #argv: readonly string[];

  constructor(...argv: readonly string[]) {
    this.#argv = argv;
    this.#process = this.#start();
  }

  async kill(): Promise<void> {
    // Over already, after an error.
    if (this.#process.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once('close', resolve));
    this.#process.kill('SIGKILL');
    this.kills += 1;
    await ended;
  }

  startAgain(): void {
    this.#process = this.#start();
  }

  get isReady(): boolean {
    return this.lines.includes('ready');
  }

  #start(): ChildProcess {
    const child = spawn(process.execPath, [worker.file, ...this.#argv], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...worker.env },
    });
    let rest = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      this.lines.push(...lines);
    });
    return child;
  }
}

function said(hammers: readonly Hammer[], what: string): readonly string[] {
  return hammers.flatMap(({ lines }) => lines.filter((line) => line.startsWith(what)));
}

function manyTasks(like: Task): readonly BoardEvent[] {
  const definition = { ...blank, title: 'One of many' };
  return Array.from({ length: TASKS }, (_, count) => ({
    type: 'task.created',
    id: brand<TaskId>(`cp-x${count}`),
    at: like.createdAt,
    definition,
    status: 'ready',
  }));
}

async function allEvents(board: Board): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for (let after = brand<EventNumber>(0); ;) {
    const page = await board.events({ after, limit: 5_000 });
    events.push(...page);
    if (page.length === 0) return events;
    after = brand<EventNumber>(after + page.length);
  }
}

describe.each(engines)('on %s', (engine) => {
  // promise: one-claim, writes-durable
  it(
    `${CLAIMERS} claimers and ${WRITERS} writers survive ${seconds} s of random kills`,
    async () => {
      await using place = await newPlace(engine);
      const board = await place.open();
      const ledgerOf = await newTask(board, { title: 'Where the writers write', requires: ['nobody'] });
      await board.transact((transaction) => transaction.record(person, manyTasks(ledgerOf)));

      const address = JSON.stringify(place.address);
      const hammers = [
        ...Array.from({ length: CLAIMERS }, () => new Hammer('claim', address, '')),
        ...Array.from({ length: WRITERS }, () => new Hammer('write', address, ledgerOf.id)),
      ];
      try {
        while (!hammers.every((hammer) => hammer.isReady)) await setTimeout(50);
        const until = Date.now() + seconds * 1_000;
        const kills = () => hammers.reduce((sum, hammer) => sum + hammer.kills, 0);
        const isEnough = () =>
          kills() >= LEAST_KILLS &&
          ['claimed ', 'wrote '].every((what) => said(hammers, what).length >= LEAST_SAID);
        const hasFailed = () => said(hammers, 'error').length > 0;
        while (!hasFailed() && (Date.now() < until || !isEnough())) {
          await setTimeout(KILL_EVERY_MS * Math.random() * 2);
          const victim = hammers[Math.floor(Math.random() * hammers.length)];
          await victim?.kill();
          victim?.startAgain();
        }
      } finally {
        await Promise.all(hammers.map((hammer) => hammer.kill()));
      }

      expect(said(hammers, 'error')).toEqual([]);
      const claimed = said(hammers, 'claimed ').map((line) => line.split(' '));
      const wrote = said(hammers, 'wrote ').map((line) => line.slice('wrote '.length));

      expect(new Set(claimed.map(([, id]) => id)).size).toBe(claimed.length);
      for (const [, id = '', token] of claimed) {
        const task = await board.get('task', brand<TaskId>(id));
        expect([task?.state.status, task?.token]).toEqual(['in_progress', Number(token)]);
      }
      const entries = new Set(
        (await board.list('ledger', { task: ledgerOf.id })).map((entry) => entry.id as string),
      );
      expect(wrote.filter((id) => !entries.has(id))).toEqual([]);

      const events = await allEvents(board);
      expect(events.map(({ number }) => number)).toEqual(events.map((_, index) => index + 1));
      const claims = events.filter(({ event }) => event.type === 'task.claimed').map(({ event }) => event.id);
      expect(new Set(claims).size).toBe(claims.length);
      const told = replay(events.map(({ event }) => event));
      expect(entries.size).toBe(told.ledger.size);
      for (const summary of await board.tasks({ order: 'urgent' })) {
        expect(told.task.get(summary.id)).toMatchObject(summary);
      }
    },
    (seconds + 290) * 1_000,
  );
});
