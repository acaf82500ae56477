/** Settings of copse.yml that no other test shows: each is seen by the agent, or in git. */

import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { copse, git, newArea, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

type Settings = Readonly<Record<string, unknown>>;

/** With files that git ignores, and a folder more. */
function furnished(agents: Readonly<Record<string, Settings>>, sections: Settings = {}): Scene {
  const scene = newScene(area, { agents, sections });
  appendFileSync(path.join(scene.folder, '.gitignore'), '.env*\ndeps*\nset-up.txt\n');
  for (const folder of ['src', 'docs']) {
    mkdirSync(path.join(scene.folder, folder));
    writeFileSync(path.join(scene.folder, folder, 'code.txt'), '1\n');
  }
  for (const name of ['.env', '.env.own']) writeFileSync(path.join(scene.folder, name), `IN=${name}\n`);
  for (const name of ['deps', 'deps-own']) mkdirSync(path.join(scene.folder, name));
  scene.git('add', '--all');
  scene.git('commit', '--quiet', '--message=chore: files');
  return scene;
}

const notesOf = (scene: Scene) => readFileSync(scene.notes, 'utf8').trimEnd().split('\n');

describe('agents with settings of their own beside one that has those of all', () => {
  const torn = (word: string) => `echo ${word} >> "$COPSE_REPO_ROOT/torn"`;
  const workspace = {
    worktree_dir: 'trees',
    branch_pattern: 'all/{task}',
    copy: ['.env'],
    link: ['deps'],
    sparse: ['src'],
    setup: 'echo ready > set-up.txt',
    commit_message: 'chore: {summary} by Copse',
    teardown: torn('all'),
  };
  const own = {
    workspace: {
      worktree_dir: 'own trees',
      branch_pattern: 'own/{task}',
      copy: ['.env.own'],
      link: ['deps-own'],
      sparse: ['docs'],
      setup: 'echo own > set-up.txt',
      commit_message: 'fix: {summary} of its own',
      teardown: [torn('own'), 'sleep 600'],
      command_timeout: '300ms',
    },
    landing: { policy: 'review' },
    env: { COLOUR: 'green' },
    pass_env: ['GH_TOKEN'],
    system_prompt: 'Be brief.',
    prompt_by: 'argument',
  };
  const brief = '$(printf %s "$COPSE_SYSTEM_PROMPT" | grep -c "^Be brief")';
  const script = `note "$COPSE_AGENT" "$PWD" "$(git branch --show-current)" $(cat .env*) "$(readlink deps*)" $(cat set-up.txt) $(ls -d src docs 2> /dev/null) "\${COLOUR-none} \${GH_TOKEN-none} $# ${brief}"; echo 2 > "$(ls -d src docs 2> /dev/null)/code.txt"; copse finish --summary "All of it"`;

  let scene: Scene;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    const agents = { all: {}, own, strict: { finish: { on_dirty: 'fail' } } };
    const named = Object.entries(agents).map(([name, one]) => [name, { ...one, capabilities: [name] }]);
    const sections = { workspace, finish: { on_dirty: 'commit' }, landing: { policy: 'none' } };
    scene = furnished(Object.fromEntries(named) as Record<string, Settings>, sections);
    for (const name of Object.keys(agents)) ids[name] = await scene.add(name, script, '--requires', name);
    const env = { ...(process.env as Record<string, string>), GH_TOKEN: 'dummy' };
    await copse(['orchestrate', '--until-idle'], { ...scene.at, env });
  });

  // setting: workspace.worktree_dir, workspace.branch_pattern, workspace.copy, workspace.link, workspace.sparse
  // setting: workspace.setup, agents.<name>.workspace.worktree_dir, agents.<name>.workspace.branch_pattern
  // setting: agents.<name>.workspace.copy, agents.<name>.workspace.link, agents.<name>.workspace.sparse
  // setting: agents.<name>.workspace.setup, agents.<name>.env, agents.<name>.pass_env, agents.<name>.system_prompt
  // setting: agents.<name>.prompt_by, agents.<name>.command, agents.<name>.capabilities
  test('get their worktree, environment, prompt and instructions', () => {
    const at = (...parts: readonly string[]) => path.join(scene.folder, ...parts);
    const { all = '', own = '', strict = '' } = ids;
    const usual = (name: string, id: string) =>
      `${name} ${at('trees', id)} all/${id} IN=.env ${at('deps')} ready src none none 0 0`;
    expect(notesOf(scene).toSorted()).toEqual([
      usual('all', all),
      `own ${at('own trees', own)} own/${own} IN=.env.own ${at('deps-own')} own docs green dummy 1 1`,
      usual('strict', strict),
    ]);
  });

  // setting: workspace.commit_message, finish.on_dirty, landing.policy, agents.<name>.workspace.commit_message
  // setting: agents.<name>.finish.on_dirty, agents.<name>.landing.policy
  test('have their work committed and landed as their settings say', async () => {
    expect(await scene.statuses()).toEqual({ all: 'done', own: 'in_review', strict: 'failed' });
    expect(scene.subjects(`all/${ids['all']}`).at(-1)).toBe('chore: All of it by Copse');
    expect(scene.subjects(`own/${ids['own']}`).at(-1)).toBe('fix: All of it of its own');
    expect(scene.git('show', 'main:src/code.txt')).toBe('1');
  });

  // setting: workspace.teardown, workspace.command_timeout
  // setting: agents.<name>.workspace.teardown, agents.<name>.workspace.command_timeout
  test('have their worktree torn down by their commands, within their time', async () => {
    await printed(['cancel', ids['own'] ?? ''], scene.at);
    const [first, second] = [await removed('own'), await removed('all')];
    expect(readFileSync(path.join(scene.folder, 'torn'), 'utf8')).toBe('own\nall\n');
    expect(first).toContain('Its teardown failed at: sleep 600.');
    expect(second).not.toMatch(/teardown/i);
  });

  async function removed(name: string): Promise<string> {
    const { stdout, stderr } = await copse(['cleanup', ids[name] ?? '', '--yes'], scene.at);
    return stdout + stderr;
  }
});

// setting: workspace.fetch_before_setup, agents.<name>.workspace.fetch_before_setup
test('work begins at the newest commit of the remote, or without asking it', async () => {
  const scene = furnished({
    asks: { capabilities: ['asks'] },
    does_not: { capabilities: ['not'], workspace: { fetch_before_setup: false } },
  });
  const origin = path.join(area, 'origin of settings.git');
  git(area, 'clone', '--quiet', '--bare', scene.folder, origin);
  scene.git('remote', 'add', 'origin', origin);
  scene.git('fetch', '--quiet', 'origin');
  const newer = git(scene.folder, 'commit-tree', '-p', 'main', '-m', 'newer', 'main^{tree}');
  git(scene.folder, 'push', '--quiet', origin, `${newer}:refs/heads/main`);
  const script = (name: string) => `note "$(git log -1 --format='${name} %s')"; copse finish --no-changes`;
  // One that does not ask would see what the other fetched.
  const first = await scene.add('First', script('not'), '--requires', 'not');
  await scene.add('Second', script('asks'), '--requires', 'asks', '--depends', first);
  await scene.up();
  expect(notesOf(scene)).toEqual(['not chore: files', 'asks newer']);
});

const never = { dirty: 0, nothing_committed: 0, branch: 0, commit_message: 0, accept: 0 };
// setting: finish.accept, finish.commit_convention
// setting: agents.<name>.finish.accept, agents.<name>.finish.commit_convention
// setting: policy.handbacks.dirty, policy.handbacks.nothing_committed, policy.handbacks.branch
// setting: policy.handbacks.commit_message, policy.handbacks.accept
test('finished work must be as the settings say, and is not handed back where none is allowed', async () => {
  const own = { finish: { accept: 'test ! -e unwanted', commit_convention: 'off' } };
  const scene = newScene(area, {
    agents: { all: { capabilities: ['all'] }, own: { ...own, capabilities: ['own'] } },
    sections: { finish: { accept: 'test ! -e refused', commit_convention: 'require' } },
    policy: { handbacks: never },
  });
  scene.git('branch', 'persons');
  const plainly = (file: string) =>
    `echo x > ${file}; git add --all; git commit --quiet --message="no convention"`;
  const tasks = {
    'all: dirty': 'echo x > new.txt',
    'all: nothing': 'true',
    'all: branch': 'git switch --quiet persons',
    'all: message': plainly('x.txt'),
    'all: accept': 'commit refused refused',
    'all: fits': 'commit fits fits.txt',
    'own: accept': 'commit unwanted unwanted',
    'own: fits': plainly('own.txt'),
  };
  for (const [title, script] of Object.entries(tasks))
    await scene.add(title, `note ${title}; ${script}`, '--requires', title.slice(0, 3));
  await scene.up();
  const { 'all: fits': fits, 'own: fits': ownFits, ...others } = await scene.statuses();
  expect([fits, ownFits]).toEqual(['done', 'done']);
  expect(new Set(Object.values(others))).toEqual(new Set(['needs_attention']));
  expect(notesOf(scene).toSorted()).toEqual(Object.keys(tasks).toSorted());
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
