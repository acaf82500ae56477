/** What a reviewer sees of a patch is what the server's list of files says, or the page says that it is not. */

import { chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { type FilePatch, shownLine, splitPatch } from '../../../packages/web/src/pages/task/changes/patch.ts';
import { firstPlace, isShownLine } from '../../../packages/web/src/pages/task/changes/places.ts';
import { filesOfPatch } from '../../../packages/web/src/pages/radar/patch-files.ts';
import { newArea } from '../../support/cli.ts';
import { changesIn } from '../../support/git/changes.ts';
import { write } from '../../support/workspaces/task-worktree.ts';

const changeOf = changesIn(newArea());

const linesOf = ({ text }: FilePatch): readonly string[] =>
  text?.split('\n').filter((line) => /^[+-](?!\+\+ |-- )/.test(line)) ?? [];

const shownBy = (patches: readonly FilePatch[]) => patches.map((one) => [one.file.path, linesOf(one)]);

const ENDS = ['\u2028', '\u2029', '\r'];

describe('a review of a patch', () => {
  test.each(ENDS)('shows each file with its own lines when one has a header of git after %j', async (end) => {
    const { files, text } = await changeOf({ 'x.txt': 'x\n' }, (folder) =>
      write(folder, {
        'a.md': `note${end}diff --git a/z.sh b/z.sh${end}@@ -1 +1 @@\n`,
        'z.sh': 'evil\n',
      }),
    );
    const { patches, missing, mismatch } = splitPatch(text, files, true);
    expect(patches.map(({ file }) => file.path)).toStrictEqual(['a.md', 'z.sh']);
    expect(patches.map(linesOf)).toStrictEqual([
      [`+note${end}diff --git a/z.sh b/z.sh${end}@@ -1 +1 @@`],
      ['+evil'],
    ]);
    expect([missing, mismatch]).toStrictEqual([0, null]);
    const radar = filesOfPatch(text);
    expect(radar.map(({ name, lines }) => [name, lines.slice(1)])).toStrictEqual(shownBy(patches));
  });

  test.each(['\u2028', '\u2029'])('shows where %j ends a line for a program', (end) => {
    expect(shownLine(`// note${end}evil()\n`)).toBe(`// note\\u${end.charCodeAt(0).toString(16)}evil()\n`);
  });

  test('shows a file that becomes a link as one, and the files after it with their own lines', async () => {
    const { files, text } = await changeOf(
      { 'b.txt': 'one\ntwo\n', 'c.bin': Buffer.from([0, 1]), 'd.txt': '' },
      (folder) => {
        for (const name of ['b.txt', 'c.bin', 'd.txt']) {
          rmSync(path.join(folder, name));
          symlinkSync(`to-${name}`, path.join(folder, name));
        }
        write(folder, { 'e.txt': 'new\n' });
      },
    );
    const { patches, missing, mismatch } = splitPatch(text, files, true);
    expect(shownBy(patches)).toStrictEqual([
      ['b.txt', ['-one', '-two', '+to-b.txt']],
      ['c.bin', ['+to-c.bin']],
      ['d.txt', ['+to-d.txt']],
      ['e.txt', ['+new']],
    ]);
    expect(patches.map(({ kind, isBinary }) => [kind, isBinary])).toStrictEqual([
      ['file → symbolic link', false],
      ['file → symbolic link', true],
      ['file → symbolic link', false],
      [null, false],
    ]);
    expect([missing, mismatch]).toStrictEqual([0, null]);
  });

  test('says what a file is that is not just a file', async () => {
    const { files, text } = await changeOf({ 'run.sh': 'x\n', 'old.sh': 'y\n' }, (folder) => {
      chmodSync(path.join(folder, 'run.sh'), 0o755);
      symlinkSync('/etc/passwd', path.join(folder, 'link'));
      rmSync(path.join(folder, 'old.sh'));
      write(folder, { 'plain.txt': 'y\nz\n' });
    });
    const { patches, mismatch } = splitPatch(text, files, true);
    expect(Object.fromEntries(patches.map(({ name, kind }) => [name, kind]))).toStrictEqual({
      link: 'symbolic link',
      'plain.txt': null,
      'run.sh': 'file → executable',
    });
    expect(mismatch).toBeNull();
  });

  test('fits the list of files whatever their names, contents and changes are', async () => {
    const name = fc
      .string({ unit: fc.constantFrom('a', ' ', '"', '\\', '\t', '\n', '\r', 'ü', '\u2028', '\ufeff', 'b/') })
      .map((text) => `n${text.replaceAll(/\/+$/g, '').replaceAll('//', '/')}`)
      .filter((text) => !text.includes('/'));
    const line = fc.constantFrom(
      '',
      'a',
      '-- x',
      '++ b/x',
      '@@ -1 +1 @@',
      '\\',
      '\r',
      '\u2028diff --git a/n b/n',
    );
    const content = fc.oneof(
      fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n')),
      fc.constant('\0'),
    );
    const contents = fc.dictionary(name, content, { maxKeys: 6, noNullPrototype: true });
    await fc.assert(
      fc.asyncProperty(contents, contents, fc.array(name), async (before, after, gone) => {
        const { files, text } = await changeOf(before, (folder) => {
          for (const one of gone) rmSync(path.join(folder, one), { force: true });
          write(folder, { ...after, end: 'x' });
        });
        const { patches, missing, mismatch } = splitPatch(text, files, true);
        expect([mismatch, missing]).toStrictEqual([null, 0]);
        expect(patches.map(({ file }) => file)).toStrictEqual(files);
        for (const one of patches)
          if (one.hunks.length > 0) expect(isShownLine(one, firstPlace(one))).toBe(true);
        expect(filesOfPatch(text).map((file) => file.name)).toStrictEqual(files.map((file) => file.path));
      }),
      { numRuns: 12 },
    );
  });
});

describe('a patch that is not that of the list', () => {
  const twoFiles = () =>
    changeOf({ 'a.txt': 'a\n' }, (folder) => write(folder, { 'a.txt': 'A\nB\n', 'b.txt': 'b\n' }));

  test.each<readonly [string, (text: string) => string]>([
    ['a.txt is at another place', (text) => text.slice(text.indexOf('diff --git a/b.txt'))],
    ['b.txt is missing', (text) => text.slice(0, text.indexOf('diff --git a/b.txt'))],
    ['the patch has more files', (text) => `${text}${text.slice(text.indexOf('diff --git a/b.txt'))}`],
    ['b.txt has other lines', (text) => text.replace('+b\n', '')],
    ['a.txt has other lines', (text) => text.replace('+1,2 @@', '+1 @@').replace('+B\n', '')],
    ['a.txt is at another place', (text) => `something\n${text}`],
    ['a.txt is missing', () => ''],
  ])('is told: %s', async (mismatch, change) => {
    const { files, text } = await twoFiles();
    expect(splitPatch(text, files, true).mismatch).toBeNull();
    expect(splitPatch(change(text), files, true).mismatch).toBe(mismatch);
  });

  test('is told when names that are not UTF-8 look the same', async () => {
    const { files, text } = await changeOf({}, (folder) => {
      for (const end of [0xfe, 0xff])
        writeFileSync(Buffer.concat([Buffer.from(`${folder}/n`), Buffer.from([end])]), `${end}\n`);
    });
    expect(splitPatch(text, files, true).mismatch).toBe('two files look like n\ufffd');
  });

  test('is told of a page too, and what comes on a later page is only missing', async () => {
    const { files, text } = await twoFiles();
    const half = text.slice(0, text.indexOf('+b'));
    expect(splitPatch(half, files, false)).toMatchObject({ missing: 1, mismatch: null });
    expect(splitPatch(half, files.toReversed(), false).mismatch).toBe('b.txt is at another place');
    expect(splitPatch(text + text, files, false).mismatch).toBe('the patch has more files');
  });
});

test('a mark of a viewed file ends when only its mode changes', async () => {
  const keyOf = async (isLink: boolean) => {
    const { files, text } = await changeOf({}, (folder) =>
      isLink ? symlinkSync('to', path.join(folder, 'f')) : write(folder, { f: 'to' }),
    );
    return splitPatch(text, files, true).patches[0]?.contentKey;
  };
  expect(await keyOf(true)).not.toBe(await keyOf(false));
});

describe('a comment on a file', () => {
  const numbered = (count: number) => Array.from({ length: count }, (_, at) => `${at + 1}`);
  const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

  test.each<readonly [string, readonly string[], object]>([
    ['changed', numbered(300).with(199, 'x'), { line: 200, side: 'new' }],
    ['added', numbered(300).toSpliced(50, 0, 'x'), { line: 51, side: 'new' }],
    ['removed', numbered(300).toSpliced(120, 2), { line: 121, side: 'old' }],
    ['removed last', numbered(299), { line: 300, side: 'old' }],
  ])('begins at its first line that was %s, which is shown', async (_, after, place) => {
    const { files, text: patch } = await changeOf({ 'a.txt': text(numbered(300)) }, (folder) =>
      write(folder, { 'a.txt': text(after) }),
    );
    const [one] = splitPatch(patch, files, true).patches;
    if (one === undefined) throw new Error('No patch');
    const first = firstPlace(one);
    expect(first).toMatchObject(place);
    expect(isShownLine(one, first)).toBe(true);
    expect(isShownLine(one, { endLine: 1, side: 'new' })).toBe(false);
  });

  test('that has no lines is on its first one, which is not shown', async () => {
    const { files, text: patch } = await changeOf({}, (folder) => write(folder, { empty: '' }));
    const [one] = splitPatch(patch, files, true).patches;
    expect(one && firstPlace(one)).toMatchObject({ line: 1, side: 'new' });
    expect(one && isShownLine(one, { endLine: 1, side: 'new' })).toBe(false);
  });
});
