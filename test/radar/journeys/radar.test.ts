/** Branches that get in each other's way, as people and agents see them. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { answer, git, newArea, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene, refusedBy } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

interface RadarView {
  readonly branches: readonly { readonly task: string }[];
  readonly pairs: readonly {
    readonly tasks: readonly string[];
    readonly verdict: string;
    readonly files: readonly string[];
  }[];
}

interface Listed {
  readonly tasks: readonly {
    readonly id: string;
    readonly collisions: readonly { task: string; verdict: string; files: readonly string[] }[];
  }[];
}

const line = (text: string) =>
  `printf '1\\n${text}\\n3\\n' > a.txt; git commit --quiet --all --message="feat: ${text}"`;

describe('three finished branches, two of which change the same line', () => {
  let scene: Scene;
  let [one, other, away]: [string, string, string] = ['', '', ''];
  const radarFile = (name = 'radar') => path.join(scene.folder, '.copse', `${name}.json`);
  const inList = async (id: string) =>
    (await answer<Listed>(['list'], scene.at)).tasks.find((task) => task.id === id)?.collisions;

  beforeAll(async () => {
    scene = newScene(area, { sections: { landing: { policy: 'review' } } });
    one = await scene.add('One "ü"', line('one'));
    other = await scene.add('Other', line('other'));
    away = await scene.add('Away', 'commit away away.txt');
    await scene.up();
  });

  test('the orchestrator has compared them, so the list shows who conflicts with whom', async () => {
    expect(await inList(one)).toMatchObject([{ task: other, verdict: 'conflict', files: ['a.txt'] }]);
    expect(await inList(away)).toEqual([]);
    const list = await printed(['list'], scene.at);
    expect(list).toMatch(new RegExp(`${one} IN_REVIEW .*One "ü"  plain  ≠ conflicts with ${other}\n`));
    expect(list).toMatch(new RegExp(`${other} IN_REVIEW .*Other  plain  ≠ conflicts with ${one}\n`));
    expect(list).toMatch(/Away  plain\n/);
  });

  test('`why` has it as a sentence', async () => {
    expect(await scene.why(one)).toContain(
      `It conflicts with ${other} (Other) in a.txt: the one that lands second must resolve the conflict.`,
    );
    expect(await scene.why(away)).not.toContain('conflict');
  });

  test('radar lists the pairs, all or those of one task, and counts its comparisons', async () => {
    const all = await printed(['radar'], scene.at);
    expect(all).toMatch(/^conflict {2}cp-\w+ {2}cp-\w+ +\d+\w {2}a\.txt\n/);
    expect(all).toContain(
      'Compared 3 branches of unfinished tasks: 1 pair conflicts, 0 more change the same files.',
    );
    const pair = { tasks: [one, other].toSorted(), verdict: 'conflict', files: ['a.txt'] };
    expect(await answer<RadarView>(['radar'], scene.at)).toMatchObject({
      branches: [{}, {}, {}],
      pairs: [pair],
    });
    expect(await answer<RadarView>(['radar', one], scene.at)).toMatchObject({ pairs: [pair] });
    expect((await answer<RadarView>(['radar', away], scene.at)).pairs).toEqual([]);
    expect(await printed(['radar', away], scene.at)).toBe(
      `Compared 3 branches of unfinished tasks: none changes the files that ${away} changes.\n`,
    );
  });

  test('a task without a branch is told so', async () => {
    const { id } = await answer<{ id: string }>(['add', 'Later'], scene.at);
    expect(await refusedBy(['radar', id], scene.at)).toContain(
      `${id} is finished, or has no branch in this repository.`,
    );
    await printed(['delete', id, '--yes'], scene.at);
  });

  test('a pair that moved since is not shown as known by commands that do not compare', async () => {
    const worktree = path.join(scene.folder, '.worktrees', other);
    writeFileSync(path.join(worktree, 'a.txt'), '1\n2\n3\n4\n');
    git(worktree, 'commit', '--quiet', '--all', '--message=fix: elsewhere');
    expect(await inList(one)).toMatchObject([{ task: other, verdict: 'pending', files: [] }]);
    expect(await printed(['list'], scene.at)).toContain(`≠? not compared yet: ${other}\n`);
    expect(await scene.why(one)).toContain('They are not compared yet.');
    expect(await answer<RadarView>(['radar'], scene.at)).toMatchObject({ pairs: [{ verdict: 'overlap' }] });
    expect(await printed(['list'], scene.at)).toContain(`~ same files as ${other}\n`);
    expect(await scene.why(one)).toContain(
      `${other} (Other) changes the same files, so far without a conflict: a.txt.`,
    );
  });

  test.each(['radar', 'radar-memory'])(
    'a damaged %s.json harms nothing and is written anew',
    async (name) => {
      writeFileSync(radarFile(name), '{"version":2,"pairs":');
      expect(await inList(one)).toEqual(
        name === 'radar' ? [] : [expect.objectContaining({ verdict: 'overlap' })],
      );
      expect(await scene.why(one)).not.toContain('undefined');
      expect(await answer<RadarView>(['radar'], scene.at)).toMatchObject({ pairs: [{ verdict: 'overlap' }] });
      expect(JSON.parse(readFileSync(radarFile(name), 'utf8'))).toMatchObject({ version: 2 });
    },
  );

  test('an agent that continues is told which branch conflicts', async () => {
    scene.script(one, 'cp AGENT_CONTEXT.md .copse/session-context.json "${NOTES%/*}"; commit more more.txt');
    await printed(['resume', one, '--message', 'More'], scene.at);
    await scene.up();
    const told = readFileSync(path.join(scene.scripts, 'AGENT_CONTEXT.md'), 'utf8');
    expect(told).toContain(`overlap ${other} in_review in a.txt: Other`);
    expect(told).toContain('Keep your change small there');
    expect(JSON.parse(readFileSync(path.join(scene.scripts, 'session-context.json'), 'utf8'))).toMatchObject({
      collisions: { listed: [{ id: other, how: 'overlap', files: { listed: ['a.txt'], omitted: 0 } }] },
    });
  });

  test('a landed branch conflicts with no other', async () => {
    await scene.merge(other);
    expect(await answer<RadarView>(['radar'], scene.at)).toMatchObject({ branches: [{}, {}], pairs: [] });
    expect(await printed(['list'], scene.at)).not.toMatch(/≠|~/);
  });
});

test('without two branches the radar says that it compared none', async () => {
  const scene = newScene(area);
  expect(await printed(['radar'], scene.at)).toBe('No unfinished task has a branch: nothing to compare.\n');
  const id = await scene.add('one', 'true');
  await printed(['work', id], scene.at);
  expect(await printed(['radar'], scene.at)).toBe(
    'Only one unfinished task has a branch: nothing to compare.\n',
  );
});

test('of equally urgent tasks, the one starts first whose area no branch has changed', async () => {
  const scene = newScene(area, {
    policy: { max_agents: 1 },
    sections: { landing: { policy: 'review' } },
  });
  await scene.add('First', line('first'));
  await scene.up();
  const later = 'note "$COPSE_TASK_ID"; commit later "$COPSE_TASK_ID.txt"';
  const collides = await scene.add('Collides', later, '--area', 'a.txt');
  expect(await scene.why(collides)).toContain('start first');
  const apart = await scene.add('Apart', later, '--area', 'docs/**');
  expect(await scene.why(apart)).not.toContain('start first');
  const urgent = await scene.add('Urgent', later, '--area', 'a.txt', '--priority', 'p5');
  const { plan } = await answer<{ plan: readonly { task: string }[] }>(
    ['orchestrate', '--dry-run'],
    scene.at,
  );
  expect(plan.map(({ task }) => task)).toEqual([urgent, apart, collides]);
  await scene.up();
  expect(readFileSync(scene.notes, 'utf8').split('\n').slice(0, 3)).toEqual([urgent, apart, collides]);
});
