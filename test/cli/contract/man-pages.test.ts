/** Man pages, made from the tree of commands. `npm run build` writes what is tested here. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { manPages } from '../../../scripts/man-pages.ts';
import { newArea } from '../../support/cli.ts';
import { everyCommand } from '../../support/command-tree.ts';
import { isLong } from '../../support/long.ts';

const folder = path.join(newArea(), 'man');
const pages = manPages();
const files = [...pages.keys()].map((name) => path.join(folder, name));

beforeAll(() => {
  mkdirSync(folder);
  for (const [name, page] of pages) writeFileSync(path.join(folder, name), page);
});

test('every visible command has a page with its options and examples', () => {
  const visible = everyCommand().filter(({ path: at }) => at !== 'hook');
  const names = visible.map(({ path: at }) => `copse-${at.replaceAll(' ', '-')}.1`);
  expect([...pages.keys()].toSorted()).toEqual([...names, 'copse.1'].toSorted());
  for (const { path: at, command } of visible) {
    const page = (pages.get(`copse-${at.replaceAll(' ', '-')}.1`) ?? '').replaceAll('\\-', '-');
    for (const { long } of command.options)
      expect({ at, has: page.includes(long ?? '') }).toEqual({ at, has: true });
    expect({ at, has: page.includes('.SH EXAMPLES') }).toEqual({ at, has: command.exampleLines.length > 0 });
  }
});

/** `man` starts several programs for each page, so it gets a few; the others read all at once. */
const some = ['copse.1', 'copse-add.1', 'copse-queue-pause.1'].map((name) => path.join(folder, name));

const renderers: readonly (readonly [program: string, words: readonly string[], pages: readonly string[]])[] =
  [
    ['man', ['--warnings', '--local-file'], isLong ? files : some],
    ['groff', ['-man', '-ww', '-Tutf8'], files],
    ['mandoc', ['-T', 'lint', '-W', 'warning'], files],
  ];

test.each(renderers)('%s renders them without a warning, if it is there', (program, words, read) => {
  const { error, status, stdout, stderr } = spawnSync(program, [...words, ...read], {
    encoding: 'utf8',
    env: { ...process.env, MANPAGER: 'cat', PAGER: 'cat', MANWIDTH: '80', LC_ALL: 'C.UTF-8' },
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) return;
  const said = program === 'mandoc' ? stdout : '';
  expect({ status, stderr, said }).toEqual({ status: 0, stderr: '', said: '' });
});
