/** A mistake in copse.yml while agents run: it changes nothing of what becomes of their work. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { answer, copse, newArea } from '../../support/cli.ts';
import { newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();

// promise: attempt-settings
test.each([
  ['a typo', 'agnets: {}\n'],
  ['a broken file', 'agents: [\n'],
])(
  'an agent that is stuck says so although copse.yml has %s meanwhile, and nothing lands',
  async (_, text) => {
    const scene = newScene(area);
    const config = path.join(scene.folder, 'copse.yml');
    const broken = `printf %s ${JSON.stringify(text)} > '${config}'`;
    const id = await scene.add(
      'half',
      `commit half half.txt; ${broken}; copse stuck --reason "Which half?"; exit 0`,
    );
    const { code } = await copse(['orchestrate', '--until-idle'], scene.at);
    expect(code).toBe(5);
    expect(scene.subjects()).toEqual(['first', 'chore: set up']);
    const { tasks } = JSON.parse((await copse(['list', '--all', '--json'], scene.at)).stdout) as {
      tasks: { id: string; status: string; reason: string }[];
    };
    expect(tasks).toMatchObject([{ id, status: 'stuck', reason: 'Which half?' }]);
  },
);

// promise: attempt-settings
test('every report of an agent goes by the settings that it was started with', async () => {
  const scene = newScene(area, { sections: { finish: { commit_convention: 'off' } } });
  const config = path.join(scene.folder, 'copse.yml');
  const id = await scene.add(
    'reports',
    [
      `printf 'broken: [' > '${config}'; rm -rf '${scene.folder}/.git/copse'`,
      'copse phase working && note phase',
      'copse heartbeat && note heartbeat',
      'copse ledger add learning "It works" && note ledger',
      'copse notify none && note notify',
      'commit done done.txt',
      'copse finish --summary "All of it" && note finish',
    ].join('\n'),
  );
  await copse(['orchestrate', '--until-idle'], scene.at);
  const { readFileSync } = await import('node:fs');
  expect(readFileSync(scene.notes, 'utf8').trim().split('\n')).toEqual([
    'phase',
    'heartbeat',
    'ledger',
    'notify',
    'finish',
  ]);
  writeFileSync(config, '');
  expect((await answer<{ status: string }>(['show', id], scene.at)).status).toBe('done');
});
