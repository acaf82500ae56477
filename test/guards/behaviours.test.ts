/** docs/reference/behaviours.md: every behaviour of the design documents has tests, and each of them exists. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { type NamedTest, isThere, testsNamedIn } from './named-tests.ts';
import { projectRoot } from './working-copy.ts';

const page = readFileSync(join(projectRoot, 'docs/reference/behaviours.md'), 'utf8');

interface Row {
  readonly mark: string;
  readonly tests: readonly NamedTest[];
}

const rows: readonly Row[] = Array.from(
  page.matchAll(/^\| ([A-Z]\d+) \| [^|]+ \| (.*) \|$/gm),
  ([, mark = '', shown = '']) => ({
    mark,
    tests: testsNamedIn(shown),
  }),
);

describe('the behaviours of the design documents', () => {
  test('are numbered without a gap, and every row of the page is read', () => {
    const letters = Map.groupBy(rows, ({ mark }) => mark.slice(0, 1));
    expect([...letters.keys()].toSorted()).toEqual(['G', 'H', 'O', 'S', 'Z']);
    for (const [letter, mine] of letters)
      expect(mine.map(({ mark }) => mark)).toEqual(mine.map((_, index) => `${letter}${index + 1}`));
    expect(rows).toHaveLength(page.split('\n').filter((line) => /^\| [A-Z]\d/.test(line)).length);
  });

  test('each have a test', () => {
    const bare = rows.filter(({ tests }) => tests.length === 0).map(({ mark }) => mark);
    expect(bare).toEqual([]);
  });

  test('name only tests that exist', () => {
    const wrong = rows.flatMap(({ mark, tests }) =>
      tests.filter((named) => !isThere(named)).map(({ file, name }) => `${mark}: ${file} › ${name}`),
    );
    expect(wrong).toEqual([]);
  });
});
