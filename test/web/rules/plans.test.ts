/** What the page of plans makes of a plan: the blocks of its text, and the longest chain that lies ahead. */

import { describe, expect, test } from 'vitest';

import { blocksOf } from '../../../packages/web/src/pages/plans/markdown-blocks.ts';
import { type GraphTask, criticalPath } from '../../../packages/web/src/pages/plans/progress.ts';

function task(
  id: string,
  dependsOn: readonly string[] = [],
  status: GraphTask['status'] = 'ready',
): GraphTask {
  return { id, title: id, status, dependsOn };
}

describe('the critical path', () => {
  test('is the longest chain of open tasks', () => {
    const tasks = [
      task('a', [], 'done'),
      task('b', ['a']),
      task('c', ['b', 'x']),
      task('d', ['c']),
      task('x'),
      task('y', ['x']),
      task('e', ['y', 'd']),
    ];
    expect(criticalPath(tasks)).toStrictEqual(['b', 'c', 'd', 'e']);
    expect(criticalPath([task('a'), task('b')])).toStrictEqual([]);
  });

  test('of a chain of 20,000 tasks is all of it', () => {
    const ids = Array.from({ length: 20_000 }, (_, at) => `t${at}`);
    const tasks = ids.map((id, at) => task(id, at === 0 ? [] : [ids[at - 1] ?? '']));
    // A board lists the newest task first.
    expect(criticalPath(tasks.toReversed())).toStrictEqual(ids);
  });

  test('ends although tasks wait for each other', () => {
    const tasks = [task('a', ['b']), task('b', ['a']), task('c', ['c']), task('d'), task('e', ['d', 'b'])];
    expect(criticalPath(tasks)).toStrictEqual([]);
  });
});

describe('the blocks of a plan', () => {
  test('headings, lists, code, quotes and text', () => {
    const text =
      '# Why\n\nslow\nstart\n\n- [x] measure\n- mend\n\n```sh\necho "# no"\n```\n> said\n~~~\nopen';
    expect(blocksOf(text)).toStrictEqual([
      { kind: 'heading', level: 1, text: 'Why' },
      { kind: 'text', text: 'slow\nstart' },
      { kind: 'list', isOrdered: false, items: ['☑ measure', 'mend'] },
      { kind: 'code', text: 'echo "# no"' },
      { kind: 'quote', text: 'said' },
      { kind: 'code', text: 'open' },
    ]);
  });

  test('of thousands of closed fences are found in one pass', () => {
    const begun = performance.now();
    expect(blocksOf('```\n```\n'.repeat(25_000))).toHaveLength(25_000);
    expect(performance.now() - begun).toBeLessThan(1_000);
  });

  test.each(['\r', '\u2028', '\u2029'])('%j in a heading or an item is part of it', (hidden) => {
    const blocks = blocksOf(`# a${hidden}b\n- c${hidden}d\ne`);
    expect(blocks.map(({ kind }) => kind)).toStrictEqual(['heading', 'list', 'text']);
  });
});
