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
  mkdirSync(path.join(scene.folder, 'docs'));
  writeFileSync(path.join(scene.folder, 'docs', 'page.txt'), '1\n');
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
      'note "$PWD"; note "$(git branch --show-current)"; note "$(cat .env)"; note "$(readlink deps)"; note "$(cat set-up.txt)"; note "$(test -e docs || echo sparse)"; echo 2 > src/code.txt; copse finish --summary "All of it"',
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
    git(
      other,
      '-c',
      'user.name=A',
      '-c',
      'user.email=a@b.invalid',
      'commit',
      '--quiet',
      '--allow-empty',
      '--message=newer',
    );
    git(other, 'push', '--quiet', 'origin', 'HEAD:main');
    const script = (name: string) => `note "$(git log -1 --format='${name} %s')"; copse finish --no-changes`;
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
    const note = (word: string) => `echo ${word} >> "$COPSE_REPO_ROOT/torn"`;
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
    expect(first).toContain('Its teardown failed at: sleep 600.');
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

describe('finished work', () => {
  const never = { dirty: 0, nothing_committed: 0, branch: 0, commit_message: 0, accept: 0, checks: 0 };
  const finish = { accept: 'test ! -e refused', commit_convention: 'require' };
  // setting: finish.accept, finish.commit_convention
  // setting: agents.<name>.finish.accept, agents.<name>.finish.commit_convention
  // setting: policy.handbacks.dirty, policy.handbacks.nothing_committed, policy.handbacks.branch
  // setting: policy.handbacks.commit_message, policy.handbacks.accept
  test.each([
    ['for all agents', {}, { finish }],
    ['for one agent', { finish }, {}],
  ])(
    'must be as the settings %s say, and is not handed back where none is allowed',
    async (_, own, sections) => {
      const scene = newScene(area, { agents: { one: own }, sections, policy: { handbacks: never } });
      scene.git('branch', 'persons');
      const tasks = {
        dirty: 'echo x > new.txt',
        nothing: 'true',
        branch: 'git switch --quiet persons',
        message: 'echo x > x.txt; git add --all; git commit --quiet --message="no convention"',
        accept: 'commit refused refused',
        fits: 'commit fits fits.txt',
      };
      for (const [title, script] of Object.entries(tasks)) await scene.add(title, `note ${title}; ${script}`);
      await scene.up();
      const { fits, ...others } = await scene.statuses();
      expect(fits).toBe('done');
      expect(new Set(Object.values(others))).toEqual(new Set(['needs_attention']));
      expect(notesOf(scene).toSorted()).toEqual(Object.keys(tasks).toSorted());
    },
  );

  // setting: landing.target, landing.checks.<name>.env, landing.checks.<name>.working_directory
  // setting: landing.checks.<name>.timeout, policy.handbacks.checks
  test('lands on the target of copse.yml, if its checks pass in their folder, with their variables and in time', async () => {
    const fits = {
      command: 'test "$WORD" = yes && test -e code.txt',
      env: { WORD: 'yes' },
      working_directory: 'src',
    };
    const slow = { command: 'test ! -e slow.txt || sleep 600', timeout: '500ms' };
    const scene = newScene(area, {
      sections: { landing: { target: 'develop', checks: { fits, slow } } },
      policy: { handbacks: never },
    });
    scene.git('switch', '--quiet', '--create', 'develop');
    mkdirSync(path.join(scene.folder, 'src'));
    writeFileSync(path.join(scene.folder, 'src', 'code.txt'), '1\n');
    scene.git('add', '--all');
    scene.git('commit', '--quiet', '--message=chore: code');
    scene.git('switch', '--quiet', 'main');
    await scene.add('lands', 'note lands; commit lands lands.txt');
    await scene.up();
    await scene.add('is slow', 'note slow; commit slow slow.txt');
    await scene.up();
    expect(await scene.statuses()).toEqual({ lands: 'done', 'is slow': 'needs_attention' });
    expect(scene.subjects('develop').at(-1)).toBe('feat: lands');
    expect(scene.subjects('main')).not.toContain('feat: lands');
    expect(notesOf(scene)).toEqual(['lands', 'slow']);
  });
});

// setting: policy.min_free_memory, policy.min_free_disk
test.each([
  ['memory', { min_free_memory: '900000GB' }],
  ['disk', { min_free_disk: '900000GB' }],
])('no agent starts on a machine with less %s than asked for', async (what, policy) => {
  const scene = newScene(area, { policy });
  await scene.add('Waits', 'true');
  expect(await printed(['orchestrate', '--dry-run'], scene.at)).toMatch(new RegExp(what, 'i'));
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
