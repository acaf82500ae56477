/** The library that draws a patch leaves out no line of it. It needs no browser for that. */

import { rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { parsedFile } from '../../packages/web/src/pages/task/changes/parsed-file.ts';
import { splitPatch } from '../../packages/web/src/pages/task/changes/patch.ts';
import { newArea } from '../support/cli.ts';
import { changesIn } from '../support/git/changes.ts';
import { write } from '../support/workspaces/task-worktree.ts';

const changeOf = changesIn(newArea());

const HOSTILE = ['\u2028', '\u2029', '\r', '\u0085']
  .flatMap((end) => [`note${end}diff --git a/z b/z`, `note${end}@@ -1,9 +1,9 @@${end}-x`])
  .concat('', ' ', '-- x', '++ b/x', '@@ -1 +1 @@', '\\ No newline at end of file', '\r', '-- ', '\t');

test('every line of a patch is one of the view, whatever it holds', async () => {
  const { files, text } = await changeOf({ 'a.txt': 'one\ntwo', 'link.txt': '\nx\n' }, (folder) => {
    write(folder, {
      'a.txt': `one\n${HOSTILE.join('\n')}`,
      'all.txt': `${HOSTILE.join('\n')}\n`,
      ...Object.fromEntries(HOSTILE.map((line, at) => [`n${at}`, line])),
      'sp ace ': 'x',
      'qu"ote\nü': 'x\n',
    });
    rmSync(path.join(folder, 'link.txt'));
    symlinkSync('to', path.join(folder, 'link.txt'));
  });
  const { patches, mismatch } = splitPatch(text, files, true);
  expect([mismatch, patches.length]).toStrictEqual([null, files.length]);
  for (const one of patches) {
    const { additionLines, deletionLines, hunks } = parsedFile(one);
    const lines = one.hunks.flatMap((hunk) => hunk.text.split('\n').slice(1));
    expect(additionLines).toHaveLength(lines.filter((line) => /^[ +]/.test(line)).length);
    expect(deletionLines).toHaveLength(lines.filter((line) => /^[ -]/.test(line)).length);
    expect(hunks).toHaveLength(one.hunks.length);
  }
});

test('a patch of which a line would be left out is refused', async () => {
  const { files, text } = await changeOf({}, (folder) => write(folder, { 'a.txt': 'one\ntwo\n' }));
  const [one] = splitPatch(text, files, true).patches;
  if (one === undefined) throw new Error('No patch');
  expect(() => parsedFile({ ...one, text: one.text?.replace('+two\n', '') ?? null })).toThrow('');
});
