/** Programs that are talked to, with real processes. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { afterEach, expect, test } from 'vitest';

import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import { isAlive } from '../../../packages/copse/src/processes/identity.ts';
import type { ProcessIdentity } from '../../../packages/copse/src/kernel/process.ts';
import {
  type ConnectedProgram,
  ProgramMissing,
} from '../../../packages/copse/src/processes/ports/programs.ts';
import { newArea } from '../../support/cli.ts';
import { endTurns, newTurn, pidsOf, printedIn, wordsIn } from '../../support/records/turns.ts';

const area = newArea();
afterEach(endTurns);

function program(...argv: readonly [string, ...string[]]) {
  const turn = newTurn(area);
  const { folder, environment, attempt, log } = turn;
  const made: ConnectedProgram = { argv, folder, environment, attempt, log };
  return { turn, program: made };
}

test('a program reads its input, its output is read, and its standard error is in the log', async () => {
  const { turn, program: cat } = program('sh', '-c', 'cat; echo "an error" >&2; exit 7');
  const started: ProcessIdentity[] = [];
  const connection = openPrograms({ onStart: (one) => started.push(one) }).connect(cat);
  connection.input.end('hello 林\n');
  expect(await text(connection.output)).toBe('hello 林\n');
  expect(await connection.ended).toEqual({ kind: 'exited', code: 7 });
  expect(started).toEqual([await connection.started]);
  expect(printedIn(turn)).toBe('an error\n');
});

test('a program gets its own environment and folder, and leads a group of its own', async () => {
  const { turn, program: look } = program('sh', '-c', 'pwd; env; ps -o pgid= -p $$; cat');
  const connection = openPrograms().connect(look);
  const first = await connection.started;
  connection.input.end();
  const printed = await text(connection.output);
  expect(printed).toContain(turn.folder);
  expect(printed).toContain(`COPSE_ATTEMPT_ID=${turn.attempt}`);
  expect(printed).not.toContain('VITEST');
  expect(printed.trim().split(/\s+/).at(-1)).toBe(String(first?.pid));
});

test('a missing program, and a missing folder, are reported in a sentence', async () => {
  const { program: nobody } = program('no-such-program');
  const connection = openPrograms().connect(nobody);
  await expect(connection.started).rejects.toThrow(ProgramMissing);
  expect(await connection.ended).toEqual({ kind: 'vanished' });
  await connection.stop({ graceMs: 0 });
  const folder = path.join(area, 'gone');
  expect(() => openPrograms().connect({ ...nobody, folder })).toThrow(folder);
});

test('a program that ignores signals is ended with every process it started', async () => {
  const pids = path.join(area, 'pids');
  const script = `trap '' TERM; setsid sleep 1000 & echo $! $$ >> "$0"; while :; do sleep 1; done`;
  const { turn, program: deaf } = program('sh', '-c', script, pids);
  const connection = openPrograms().connect(deaf);
  await wordsIn(pids, 2);
  await connection.stop({ graceMs: 100 });
  expect(await pidsOf(turn)).toEqual([]);
  expect(await isAlive((await connection.started)!)).toBe(false);
  expect(await connection.ended).toMatchObject({ kind: 'signalled' });
  expect(readFileSync(pids, 'utf8')).toMatch(/\d/);
});

test('a program that exits before it read all its input breaks nothing', async () => {
  const { program: hasty } = program('true');
  const connection = openPrograms().connect(hasty);
  for (let line = 0; line < 1_000; line += 1) connection.input.write('x'.repeat(1_000));
  expect(await connection.ended).toEqual({ kind: 'exited', code: 0 });
  connection.input.write('anybody?');
});
