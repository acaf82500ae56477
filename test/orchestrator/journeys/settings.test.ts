/** Settings of copse.yml that no other test shows: each is seen by the agent, or in git. */

import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { copse, git, newArea, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

type Settings = Readonly<Record<string, unknown>>;

/** With files that git ignores, and a folder more. */
function furnished(agents: Readonly<Record<string, Settings>>, sections: Settings = {}): Scene {
  const scene = newScene(area, { agents, sections });
  appendFileSync(path.join(scene.folder, '.gitignore'), '.env\ndeps\nset-up.txt\n');
  mkdirSync(path.join(scene.folder, 'src'));
  writeFileSync(path.join(scene.folder, 'src', 'code.txt'), '1\n');
  writeFileSync(path.join(scene.folder, '.env'), 'SECRET=1\n');
  mkdirSync(path.join(scene.folder, 'deps'));
  scene.git('add', '--all');
  scene.git('commit', '--quiet', '--message=chore: files');
  return scene;
}

const notesOf = (scene: Scene) => readFileSync(scene.notes, 'utf8').trimEnd().split('\n');

const workspace = {
  worktree_dir: 'trees',
  branch_pattern: 'own/{task}',
  copy: ['.env'],
  link: ['deps'],
  sparse: ['src'],
  setup: 'echo ready > set-up.txt',
  commit_message: 'chore: {summary} by Copse',
};

describe('where an agent works', () => {
  const finish = { on_dirty: 'commit' };
  const landing = { policy: 'none' };
  // setting: workspace.worktree_dir, workspace.branch_pattern, workspace.copy, workspace.link, workspace.sparse
  // setting: workspace.setup, workspace.commit_message, finish.on_dirty, landing.policy
  // setting: agents.<name>.workspace.worktree_dir, agents.<name>.workspace.branch_pattern
  // setting: agents.<name>.workspace.copy, agents.<name>.workspace.link, agents.<name>.workspace.sparse
  // setting: agents.<name>.workspace.setup, agents.<name>.workspace.commit_message
  // setting: agents.<name>.finish.on_dirty, agents.<name>.landing.policy
  test.each([
    ['for all agents', {}, { workspace, finish, landing }],
    ['for one agent', { workspace, finish, landing }, {}],
  ])('and how its work is committed is set %s', async (_, own, sections) => {
    const scene = furnished({ one: own }, sections);
    const id = await scene.add(
      'Work',
      'note "$PWD"; note "$(git branch --show-current)"; note "$(cat .env)"; note "$(readlink deps)"; note "$(cat set-up.txt)"; note "$(test -e a.txt || echo sparse)"; echo 2 > src/code.txt; copse finish --summary "All of it"',
    );
    await scene.up();
    expect(notesOf(scene)).toEqual([
      path.join(scene.folder, 'trees', id),
      `own/${id}`,
      'SECRET=1',
      expect.stringContaining(path.join(scene.folder, 'deps')),
      'ready',
      'sparse',
    ]);
    expect(await scene.statuses()).toEqual({ Work: 'done' });
    expect(scene.subjects(`own/${id}`).at(-1)).toBe('chore: All of it by Copse');
    expect(scene.git('show', 'main:src/code.txt')).toBe('1');
  });

  // setting: workspace.fetch_before_setup, agents.<name>.workspace.fetch_before_setup
  test('begins at the newest commit of the remote, or without asking it', async () => {
    const scene = furnished({
      asks: { capabilities: ['asks'] },
      does_not: { capabilities: ['not'], workspace: { fetch_before_setup: false } },
    });
    const origin = path.join(area, 'origin of settings.git');
    git(area, 'clone', '--quiet', '--bare', scene.folder, origin);
    scene.git('remote', 'add', 'origin', origin);
    scene.git('fetch', '--quiet', 'origin');
    const other = path.join(area, 'other clone');
    git(area, 'clone', '--quiet', origin, other);
    git(other, '-c', 'user.name=A', '-c', 'user.email=a@b.invalid', 'commit', '--quiet', '--allow-empty', '--message=newer');
    git(other, 'push', '--quiet', 'origin', 'HEAD:main');
    const script = (name: string) => `note "${'$'}(git log -1 --format='${name} %s')"; copse finish --no-changes`;
    // The second would see what the first fetched.
    await scene.add('Second', script('not'), '--requires', 'not');
    await scene.up();
    await scene.add('First', script('asks'), '--requires', 'asks');
    await scene.up();
    expect(notesOf(scene)).toEqual(['not chore: files', 'asks newer']);
  });

  // setting: workspace.teardown, workspace.command_timeout
  // setting: agents.<name>.workspace.teardown, agents.<name>.workspace.command_timeout
  test('is taken down by the commands of its agent, within their time, and by those of all otherwise', async () => {
    const note = (word: string) => `echo ${word} >> "${'$'}COPSE_REPO_ROOT/torn"`;
    const own = { teardown: [note('own'), 'sleep 600'], command_timeout: '300ms' };
    const scene = furnished(
      { usual: { capabilities: ['usual'] }, own: { capabilities: ['own'], workspace: own } },
      { workspace: { teardown: note('usual') }, landing: { policy: 'none' } },
    );
    const ids = [
      await scene.add('Own', 'commit own src/own.txt', '--requires', 'own'),
      await scene.add('Usual', 'commit usual src/usual.txt', '--requires', 'usual'),
    ];
    await scene.up();
    const [first, second] = [await removed(scene, ids[0]), await removed(scene, ids[1])];
    expect(readFileSync(path.join(scene.folder, 'torn'), 'utf8')).toBe('own\nusual\n');
    expect(first).toMatch(/teardown.*(timed out|took longer|time)/is);
    expect(second).not.toMatch(/teardown/i);
  });
});

async function removed(scene: Scene, id = ''): Promise<string> {
  const { stdout, stderr } = await copse(['cleanup', id, '--yes'], scene.at);
  return stdout + stderr;
}

describe('what an agent gets', () => {
  // setting: agents.<name>.env, agents.<name>.pass_env, agents.<name>.system_prompt, agents.<name>.prompt_by
  // setting: agents.<name>.command, agents.<name>.capabilities
  test('is the environment, the prompt and the instructions that its settings say', async () => {
    const scene = furnished({
      plain: { capabilities: ['plain'] },
      rich: {
        capabilities: ['rich'],
        env: { COLOUR: 'green' },
        pass_env: ['GH_TOKEN'],
        system_prompt: 'Be brief.',
        prompt_by: 'argument',
      },
    });
    const script =
      'note "$COPSE_AGENT ${COLOUR-none} ${GH_TOKEN-none} $# $(printf %s "$COPSE_SYSTEM_PROMPT" | grep -c "^Be brief")"; copse finish --no-changes';
    await scene.add('Plain', script, '--requires', 'plain');
    await scene.add('Rich', script, '--requires', 'rich');
    const { code } = await copse(['orchestrate', '--until-idle'], {
      ...scene.at,
      env: { ...(process.env as Record<string, string>), GH_TOKEN: 'dummy' },
    });
    expect(code).toBe(0);
    expect(notesOf(scene).toSorted()).toEqual(['plain none none 0 0', 'rich green dummy 1 1']);
  });
});

// setting: workspace.pool
test('a pool has as many worktrees ready as asked for, and none if 0', async () => {
  const ready = async (pool: number) => {
    const scene = furnished({ plain: {} }, { workspace: { pool } });
    return printed(['tend'], scene.at);
  };
  expect(await ready(2)).toMatch(/2 .*ready|ready.*2/i);
  expect(await ready(0)).not.toMatch(/[1-9]\d* .*ready/i);
});
