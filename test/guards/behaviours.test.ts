/** docs/reference/behaviours.md: every behaviour of the design documents has tests, and each of them exists. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { testNames } from '../../scripts/generate-evidence.ts';
import { projectRoot } from './working-copy.ts';

const page = readFileSync(join(projectRoot, 'docs/reference/behaviours.md'), 'utf8');

/** The dashboard is not built yet. */
const WITHOUT_TEST = ['O17'];

interface Row {
  readonly mark: string;
  readonly tests: readonly { readonly file: string; readonly name: string }[];
}

const rows: readonly Row[] = Array.from(
  page.matchAll(/^\| ([A-Z]\d+) \| [^|]+ \| (.*) \|$/gm),
  ([, mark = '', shown = '']) => ({
    mark,
    tests: Array.from(shown.matchAll(/`(\S+) › ([^`]+)`/g), ([, file = '', name = '']) => ({ file, name })),
  }),
);

const namesByFile = new Map<string, ReadonlySet<string>>();

function namesIn(file: string): ReadonlySet<string> {
  const known = namesByFile.get(file);
  if (known !== undefined) return known;
  const place = join(projectRoot, file);
  const names = existsSync(place) ? testNames(readFileSync(place, 'utf8')) : [];
  const found = new Set(names.map((name) => (name.split(' > ').at(-1) ?? '').replaceAll('`', "'")));
  namesByFile.set(file, found);
  return found;
}

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
    expect(bare).toEqual(WITHOUT_TEST);
  });

  test('name only tests that exist', () => {
    const wrong = rows.flatMap(({ mark, tests }) =>
      tests
        .filter(({ file, name }) => !namesIn(file).has(name))
        .map(({ file, name }) => `${mark}: ${file} › ${name}`),
    );
    expect(wrong).toEqual([]);
  });
});
