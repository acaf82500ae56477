/** A patch and a list of files as a person reads them in a terminal. */

import { describe, expect, test } from 'vitest';

import { colouredPatch } from '../../../packages/copse/src/cli/screen/diff-text.ts';
import { fileLines } from '../../../packages/copse/src/explain/changes.ts';
import { listed } from '../../../packages/copse/src/kernel/text.ts';

describe('a patch in colour', () => {
  const patch = (...lines: readonly string[]) =>
    ['diff --git a/a.js b/a.js', '--- a/a.js', '+++ b/a.js', `@@ -0,0 +1,${lines.length} @@`]
      .concat(lines.map((line) => `+${line}`))
      .join('\n');
  const styled = (text: string) =>
    colouredPatch(text, (style, line) => `<${String(style)}>${line}`).split('\n');

  test('an added line is one, whatever it begins like', () => {
    expect(styled(patch('++ b/other.js', '@@ -1 +1 @@', 'diff --git a/x b/x')).slice(3)).toStrictEqual([
      '<cyan>@@ -0,0 +1,3 @@',
      '<green>+++ b/other.js',
      '<green>+@@ -1 +1 @@',
      '<green>+diff --git a/x b/x',
    ]);
  });

  test.each(['\u2028', '\u2029', '\r', '\u0085'])('%j does not end a line, and is seen', (end) => {
    const lines = styled(patch(`// note${end}diff --git a/z b/z`));
    expect(lines).toHaveLength(5);
    expect(lines[4]).toMatch(/^<green>\+\/\/ note\\[ux]\w+diff --git a\/z b\/z$/);
  });
});

test.each(['\n', '\r', '\u2028', '\t'])('a path with %j stays in its line of a list of files', (end) => {
  const path = `a${end}added  +0 -0  b`;
  const [line, ...others] = fileLines([{ path, from: path, change: 'renamed', lines: null }]);
  expect(others).toStrictEqual([]);
  expect(line).not.toContain(end);
  expect(listed([path])).not.toContain(end);
});
