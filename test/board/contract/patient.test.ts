/** A board that waits while its server is away, and what it does with one question that always fails. */

import { expect, it } from 'vitest';

import { patientBoard } from '../../../packages/copse/src/board/patient.ts';
import { type Board, BoardAway } from '../../../packages/copse/src/board/port.ts';
import { newPlace } from '../../support/board/boards.ts';

const limits = { againFirstMs: 1, againMostMs: 2, lastMs: 1_000, sameTimes: 4 };

/** `tasks` fails this often, as a statement that takes too long does; all other questions are answered. */
function slow(board: Board, failures: number): { readonly board: Board; readonly asked: () => number } {
  let asked = 0;
  const answers = new Proxy(board, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return async (...given: unknown[]) => {
        if (name === 'tasks' && (asked += 1) <= failures)
          throw new BoardAway('The board took too long.', 'copse doctor');
        return Reflect.apply(value, target, given) as unknown;
      };
    },
  });
  return { board: answers, asked: () => asked };
}

it.each([
  ['once is asked again, and that is not told', 1, []],
  ['a few times is told, and so is its answer', 3, ['away', 'back']],
] as const)('a question that fails %s', async (_, failures, expected) => {
  await using place = await newPlace('sqlite');
  const told: string[] = [];
  const patience = {
    signal: new AbortController().signal,
    onAway: () => void told.push('away'),
    onBack: () => void told.push('back'),
    limits,
  };
  const { board } = slow(await place.open(), failures);
  expect(await patientBoard(board, patience).tasks({ order: 'urgent' })).toEqual([]);
  expect(told).toEqual(expected);
});

it('a question that always fails while the server answers ends with its error', async () => {
  await using place = await newPlace('sqlite');
  const told: string[] = [];
  const patience = {
    signal: new AbortController().signal,
    onAway: ({ message }: BoardAway) => void told.push(message),
    onBack: () => void told.push('back'),
    limits,
  };
  const { board, asked } = slow(await place.open(), 100);
  const patient = patientBoard(board, patience);
  await expect(patient.tasks({ order: 'urgent' })).rejects.toThrow('The board took too long.');
  expect([asked(), told]).toEqual([limits.sameTimes, ['The board took too long.', 'back']]);
  expect(await patient.openLandings()).toEqual([]);
});

it('an export waits for the first line, and is never begun again after it: a copy would have lines twice', async () => {
  await using place = await newPlace('sqlite');
  const opened = await place.open();
  let failures = 0;
  const board = new Proxy(opened, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== 'exportTo') return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      return async (write: Parameters<Board['exportTo']>[0]) => {
        failures += 1;
        if (failures === 1) throw new BoardAway('The board is away.', 'copse doctor');
        await opened.exportTo(write);
        throw new BoardAway('The board is away.', 'copse doctor');
      };
    },
  });
  const patience = { signal: new AbortController().signal, onAway: () => {}, onBack: () => {}, limits };
  const lines: string[] = [];
  const exported = patientBoard(board, patience).exportTo((line) => {
    lines.push(line.line);
    return Promise.resolve();
  });
  await expect(exported).rejects.toThrow('The export is not complete. The board is away.');
  expect([failures, lines]).toEqual([2, ['board']]);
});
