/** Random histories: what Copse makes of them is what plain git makes of them. A failure names its seed. */

import { expect, it } from 'vitest';

import { trailersIn, withTrailers } from '../../../../packages/copse/src/queue/merge/trailers.ts';
import { newArea } from '../../../support/cli.ts';
import { often } from '../../../support/long.ts';
import { type Files, MergeScene, interpretTrailers } from '../../../support/queue/merging.ts';

const area = newArea();
const SEEDS = often({ short: 15, long: 20, variable: 'COPSE_MERGE_SEEDS' });

/** The same numbers for the same seed. */
function chance(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Content = Map<string, string>;

function randomChange(content: Content, draw: (below: number) => number): Files {
  const names = [...content.keys()];
  const name = names[draw(names.length)]!;
  const lines = content.get(name)!.split('\n');
  const put = (at: string, text: string): Files => (content.set(at, text), { [at]: text });
  const remove = (at: string): Files => (content.delete(at), { [at]: null });
  switch (draw(8)) {
    case 0:
      return put(`new ${draw(4)}.txt`, `new ${draw(3)}\n`);
    case 1:
      return names.length > 2 ? remove(name) : {};
    case 2: {
      const to = `moved ${draw(3)}/${name.replaceAll('/', ' ')}`;
      const text = content.get(name)!;
      return { ...remove(name), ...put(to, text) };
    }
    case 3:
      lines.splice(draw(lines.length), 1);
      return put(name, lines.join('\n'));
    case 4:
      return {};
    default:
      lines[draw(lines.length)] = `changed ${draw(3)}`;
      return put(name, lines.join('\n'));
  }
}

// promise: only-own-changes
it.each(Array.from({ length: SEEDS }, (_, at) => at + 1))('seed %i', async (seed) => {
  const draw = chance(seed);
  const scene = new MergeScene(area);
  const base: Content = new Map(
    ['a.txt', 'b.txt', 'dir/c.txt'].map((name) => [
      name,
      Array.from({ length: 14 }, (_, at) => `${name} ${at}`).join('\n'),
    ]),
  );
  scene.commit('main', Object.fromEntries(base));
  for (const branch of ['task', 'main'])
    for (let count = 1 + draw(3), content = new Map(base); count > 0; count -= 1)
      scene.commit(branch, randomChange(content, draw), { message: `${branch} ${count}\n` });

  const [merged, rebased] = [scene.plainly('merge', 'task'), scene.plainly('rebase', 'task')];
  const mergedTree = merged && scene.tree(merged);
  const isRebase = rebased !== undefined && (merged === undefined || scene.tree(rebased) === mergedTree);
  const before = scene.objects();
  const { conflicts } = await scene.merging.trial(scene.tip('main'), scene.tip('task'));
  expect(scene.objects()).toEqual(before);
  const built = await scene.build('task');
  const { kind } = await scene.build('task', { method: 'merge' });
  expect(kind === 'built').toBe(merged !== undefined);
  expect(conflicts).toEqual('files' in built ? built.files : []);
  if (built.kind !== 'built') {
    expect([merged, isRebase, built.kind]).toEqual([undefined, false, 'conflict']);
    return;
  }
  if (built.commits === 0) {
    // Rebased, only commits without a change would be left of it.
    expect(scene.tree(merged ?? rebased!)).toBe(scene.tree('main'));
    return;
  }
  if (isRebase) {
    expect(built.note).toBeNull();
    const expected = scene
      .history(rebased)
      .map((one) => interpretTrailers(`${one}\n`, 'Task: cp-0001').trim());
    expect(scene.history(built.commit)).toEqual(expected);
  } else {
    expect(built.note).toMatch(/^Landed as one squashed commit, because /);
    expect(scene.tree(built.commit)).toBe(mergedTree);
  }
});

/** Git also puts the trailers that were there into its own form; Copse leaves them as they are. */
function inForm(message: string): string {
  return message.replaceAll(/^([A-Za-z0-9-]+)[ \t]*:[ \t]*(?=\S)/gm, '$1: ');
}

it('trailers are added as git interpret-trailers adds them', () => {
  const pieces = [
    'Subject',
    'Key: value',
    'Task: cp-0001',
    'task :  CP-0001',
    'Signed-off-by: A <a@b>',
    '(cherry picked from commit 0123)',
    'just text',
    '  indented',
    'no-colon here',
    'https://example.invalid/x: y',
    'Two words: x',
    '',
    '',
  ];
  const wanted = [
    { key: 'Task', value: 'cp-0001' },
    { key: 'Plan', value: 'pl-1' },
  ];
  for (let seed = 1; seed <= 250; seed += 1) {
    const draw = chance(seed);
    const body = Array.from({ length: draw(9) }, () => pieces[draw(pieces.length)]);
    const message = `${['Subject', ...body].join('\n').trimEnd()}\n`;
    const byGit = interpretTrailers(message, ...wanted.map(({ key, value }) => `${key}: ${value}`));
    const made = withTrailers(message, wanted);
    expect({ seed, message, made: inForm(made) }).toEqual({ seed, message, made: inForm(byGit) });
    expect(made.startsWith(message.trimEnd())).toBe(true);
    expect(withTrailers(made, wanted)).toBe(made);
    expect(trailersIn(byGit)).toEqual(expect.arrayContaining([{ key: 'Plan', value: 'pl-1' }]));
  }
});
