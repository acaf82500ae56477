/** The bundle that tests run: commands that people use all day open few files. */

import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { PROGRAMS } from '../../scripts/build.mjs';
import { projectRoot } from './working-copy.ts';

const dist = path.join(projectRoot, 'packages/copse/dist');
const built = readFileSync(path.join(dist, '.built-from'), 'utf8').split('\n');

test.each(PROGRAMS.flatMap(({ entry, groups }) => Object.keys(groups).map((group) => ({ entry, group }))))(
  'a module belongs to the group $group of $entry',
  ({ entry, group }) => {
    expect(built.filter((file) => file.startsWith(`chunk-${entry}-${group}-`))).not.toEqual([]);
  },
);

test.each([
  ['list', 2],
  ['why', 4],
  ['queue', 4],
  ['agents', 4],
])('%s is in at most %i files', (command, most) => {
  const core = filesOf(requireFile('main'));
  const own = command === 'list' ? [] : filesOf(requireFile(command));
  // The entry has loaded that of the compile cache already.
  const isCounted = (file: string) => !file.startsWith('chunk-cli-start-');
  expect([...new Set([...core, ...own])].filter(isCounted).length).toBeLessThanOrEqual(most);
});

/** Otherwise V8 compiles everything anew at every start, and `--version` loads all that `list` loads. */
test.each(['cli', 'runner'])('the entry %s loads only the compile cache before it turns it on', (entry) => {
  const files = [...filesOf(`${entry}.js`)].slice(1);
  expect(files.map((file) => file.split('-').slice(0, -1).join('-'))).toEqual([`chunk-${entry}-start`]);
  const code = files.map((file) => readFileSync(path.join(dist, file), 'utf8')).join('');
  expect(code.length).toBeLessThan(3_000);
});

test('commands that only read load no Kysely and no YAML', () => {
  const files = new Set<string>();
  for (const name of ['main', 'why', 'queue', 'agents']) filesOf(requireFile(name), files);
  const code = Array.from(files, (file) => readFileSync(path.join(dist, file), 'utf8')).join('');
  expect(code.match(/^\/\/ node_modules\/(kysely|yaml)\/.*$/gm)).toBeNull();
});

test.each(built.filter((name) => name.endsWith('.js')))(
  '%s imports none of Node’s own modules, and is ASCII',
  (file) => {
    const code = readFileSync(path.join(dist, file), 'utf8');
    expect(code.match(/^import .*["']node:.*$/gm)).toBeNull();
    expect(code.search(/[^\0-\x7f]/)).toBe(-1);
  },
);

/** The file that a dynamic import of such a module loads. */
function requireFile(name: string): string {
  const file = built.find((one) => new RegExp(`^chunk-cli-${name}-[\\w-]{8}\\.js$`).test(one));
  if (file === undefined) throw new Error(`There is no file for ${name}`);
  return file;
}

function filesOf(file: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(file)) return known;
  known.add(file);
  const code = readFileSync(path.join(dist, file), 'utf8');
  for (const [, next] of code.matchAll(/^(?:import|export) (?:.* from )?"\.\/([^"]+)"/gm))
    if (next !== undefined) filesOf(next, known);
  return known;
}
