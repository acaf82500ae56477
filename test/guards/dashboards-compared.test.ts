/** docs/dashboards-compared.md: each row that we claim has a test, and each of them exists. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { isThere, testsNamedIn } from './named-tests.ts';
import { projectRoot } from './working-copy.ts';

const page = readFileSync(join(projectRoot, 'docs/dashboards-compared.md'), 'utf8');
const PEERS = 5;

const rows = page
  .split('\n')
  .filter((line) => /^\| D\d/.test(line))
  .map((line) => ({ mark: /^\| (D\d+) /.exec(line)?.[1], line }));

test('the rows are numbered without a gap and have a cell for each program', () => {
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.map(({ mark }) => mark)).toEqual(rows.map((_, index) => `D${index + 1}`));
  for (const { mark, line } of rows) expect([mark, line.split(' | ').length]).toEqual([mark, PEERS + 3]);
});

test('each row names a test, and only tests that exist', () => {
  const bare = rows.filter(({ line }) => testsNamedIn(line).length === 0).map(({ mark }) => mark);
  expect(bare).toEqual([]);
  const wrong = rows.flatMap(({ mark, line }) =>
    testsNamedIn(line)
      .filter((named) => !isThere(named))
      .map(({ file, name }) => `${mark}: ${file} › ${name}`),
  );
  expect(wrong).toEqual([]);
});

test('each number of a source is in the list, and each of the list is used', () => {
  const used = rows.flatMap(({ line }) =>
    Array.from(line.matchAll(/\[(\d+)\]/g), ([, number]) => Number(number)),
  );
  const listed = Array.from(page.matchAll(/^(\d+)\. /gm), ([, number]) => Number(number));
  expect([...new Set(used)].toSorted((one, other) => one - other)).toEqual(listed);
});
