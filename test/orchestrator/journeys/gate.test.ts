/** What must be true before a task counts as finished, and what happens when it is not: the gate, with all its policies. */

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { copse, git, newArea, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene, refusedBy } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

/** Everything happens in one run, and each test looks at a part of what came of it. */
let scene: Scene;
let output: string;
const ids: Record<string, string> = {};

const FIRST_LANDED = 'until git log --format=%s main | grep --quiet "feat: first"; do sleep 0.1; done';

const scripts: Readonly<Record<string, readonly [script: string, ...options: string[]]>> = {
  'reports and stops': ['commit reported reported.txt; copse finish --summary "All of it"'],
  'only stops': ['commit stopped stopped.txt'],
  'dirty, then commits': [
    'if was_told "uncommitted file"; then git add --all; git commit --quiet --message="feat: late"; else echo d > late.txt; fi',
  ],
  'refused as its last word': [
    'if was_told "uncommitted file"; then git add --all; git commit --quiet --message="feat: refused"; copse finish; else echo r > r.txt; true && copse finish; fi',
  ],
  'ends like a refusal': ['test -f e.txt && exit 0; commit ends e.txt; exit 4'],
  'dirty for ever': ['echo d > "left behind.txt"'],
  'dirty, committed for it': ['echo c > c.txt; copse finish --summary "made c"', '--requires', 'committer'],
  'dirty in a way that nobody can commit for it': [
    'test -d nested || { git init --quiet nested; git -C nested commit --quiet --allow-empty --message=inner; }',
    '--requires',
    'committer',
  ],
  'dirty, and that is final': ['note dirty; echo f > f.txt', '--requires', 'failer'],
  'in the middle of a merge': [
    'git rev-parse --quiet --verify MERGE_HEAD && exit 0; git checkout --quiet -b "x$$"; commit x m.txt; git checkout --quiet -; commit y m.txt; git merge "x$$"; true',
  ],
  'commits nothing': ['true'],
  'has nothing to do': ['copse finish --no-changes'],
  'says anything': [
    'test -f x.txt && exit 0; echo x > x.txt; git add --all; git commit --quiet --message="did it"',
    '--requires',
    'strict',
  ],
  'learns the convention': [
    'if was_told "break the convention"; then git commit --quiet --amend --message="feat: y"; else echo y > y.txt; git add --all; git commit --quiet --message="did it"; fi',
    '--requires',
    'strict',
  ],
  'is accepted at last': [
    'if was_told "test -f ok.txt"; then commit ok ok.txt; else commit z z.txt; fi',
    '--requires',
    'accepter',
  ],
  'collides, first': ['commit first a.txt', '--priority', 'p5'],
  'collides, resolves': [
    `if was_told "conflicts with main"; then
       copse sync --conflict; echo both > a.txt; git add a.txt; git commit --quiet --message="fix: both"
     else commit second a.txt; ${FIRST_LANDED}; fi`,
    '--priority',
    'p5',
  ],
  'collides for ever': [
    `test "$(cat a.txt)" = third || { commit third a.txt; ${FIRST_LANDED}; }`,
    '--priority',
    'p5',
  ],
  'is never accepted': ['commit q q.txt; note try', '--accept', 'echo no such luck; exit 3'],
};

beforeAll(async () => {
  scene = newScene(area, {
    agents: {
      plain: {},
      committer: { capabilities: ['committer'], finish: { on_dirty: 'commit' } },
      failer: { capabilities: ['failer'], finish: { on_dirty: 'fail' } },
      strict: { capabilities: ['strict'], finish: { commit_convention: 'require' } },
      accepter: { capabilities: ['accepter'], finish: { accept: ['test -f ok.txt'] } },
    },
  });
  const added = Object.entries(scripts).map(async ([title, [script, ...options]]) => {
    ids[title] = await scene.add(title, script, ...options);
  });
  await Promise.all(added);
  output = await scene.up();
});

const id = (title: string): string => ids[title] ?? expect.fail(`There is no task ${title}`);

describe('the gate', () => {
  test('passes an agent that did the work, at once or after it was told what is missing', async () => {
    expect(await scene.statuses()).toEqual({
      'reports and stops': 'done',
      'only stops': 'done',
      'dirty, then commits': 'done',
      'refused as its last word': 'done',
      'ends like a refusal': 'done',
      'dirty for ever': 'needs_attention',
      'dirty, committed for it': 'done',
      'dirty in a way that nobody can commit for it': 'needs_attention',
      'dirty, and that is final': 'failed',
      'in the middle of a merge': 'needs_attention',
      'commits nothing': 'needs_attention',
      'has nothing to do': 'done',
      'says anything': 'needs_attention',
      'learns the convention': 'done',
      'is accepted at last': 'done',
      'is never accepted': 'needs_attention',
      'collides, first': 'done',
      'collides, resolves': 'done',
      'collides for ever': 'needs_attention',
    });
    expect(scene.git('show', 'main:a.txt')).toBe('both');
    const landed = ['feat: reported', 'feat: stopped', 'feat: late', 'agent: made c', 'feat: y', 'feat: ok'];
    expect(scene.subjects()).toEqual(expect.arrayContaining([...landed, 'feat: z']));
    expect(scene.subjects()).not.toContain('did it');
  });

  // promise: retries-bounded
  test('hands back at most as often as the policy allows', () => {
    const handedBack = (title: string) =>
      output.split('\n').filter((line) => line.includes(` handed back ${id(title)} `)).length;
    expect(handedBack('dirty for ever')).toBe(2);
    expect(handedBack('dirty, then commits')).toBe(1);
    expect(handedBack('dirty, and that is final')).toBe(0);
    expect(handedBack('is never accepted')).toBe(2);
    expect(handedBack('has nothing to do')).toBe(0);
    expect(handedBack('collides, resolves')).toBe(1);
    expect(handedBack('collides for ever')).toBe(2);
    expect(readFileSync(scene.notes, 'utf8').split('\n').toSorted()).toEqual([
      '',
      'dirty',
      'try',
      'try',
      'try',
    ]);
  });

  test('asks an agent again that ends after a refused `finish`, and counts no crash', async () => {
    const [refused, crashed] = [id('refused as its last word'), id('ends like a refusal')];
    const of = async (task: string) =>
      (await scene.events()).filter((event) => event.id === task).map(({ type }) => type);
    expect(await of(refused)).toEqual(expect.arrayContaining(['task.handed_back']));
    expect(await of(refused)).not.toContain('task.crashed');
    expect(await of(crashed)).toContain('task.crashed');
    expect(await printed(['logs', refused, '--all'], scene.at)).toContain(
      `${refused} is not finished. 1 uncommitted file: r.txt\n`,
    );
  });

  // promise: retries-bounded
  test('keeps the worktree of a task that needs attention, with all its files', () => {
    const worktree = path.join(scene.folder, '.worktrees', id('dirty for ever'));
    expect(git(worktree, 'status', '--porcelain')).toBe('?? "left behind.txt"');
  });

  test('says once for each task what is missing', async () => {
    expect(await scene.why(id('dirty for ever'))).toContain(
      `It needs you. Its agent stopped with 1 uncommitted file: left behind.txt.\n    Commit what`,
    );
    const shown = await printed(['show', id('dirty for ever')], scene.at);
    expect(shown).toMatch(/\n {4}1\. ended with uncommitted files after /);
    expect(await scene.why(id('in the middle of a merge'))).toContain('A merge is in progress');
    const nothing = await scene.why(id('commits nothing'));
    expect(nothing).toContain('It needs you. The agent made no commits and left no changes.\n');
    expect(nothing).not.toContain('Nothing was committed');
    const unconventional = await scene.why(id('says anything'));
    expect(unconventional).toMatch(/break the convention[^\n]*\n +[0-9a-f]{8} did it\n/);
    expect(unconventional).toContain(
      [
        `    To continue yourself (end with copse finish ${id('says anything')}):`,
        `  → copse work ${id('says anything')} --resume`,
        '    If you fixed it without copse work:',
        `  → copse merge ${id('says anything')}\n`,
      ].join('\n'),
    );
    const worktrees = await printed(['worktrees'], scene.at);
    for (const title of ['collides for ever', 'says anything']) {
      expect(worktrees).toContain(`needs you: copse why ${id(title)}`);
      expect(worktrees).not.toContain(`copse merge ${id(title)}`);
    }
    const conflict = await scene.why(id('collides for ever'));
    expect(conflict).toContain('conflicts with main:\n      a.txt\n');
    expect(conflict).not.toMatch(/finish/);
    expect(conflict).toContain(
      `    To let its agent resolve it:\n  → copse resume ${id('collides for ever')}\n`,
    );
    expect(conflict).toContain(
      `    To resolve it yourself:\n  → copse sync ${id('collides for ever')} --conflict\n    After your commit:\n  → copse merge ${id('collides for ever')}\n`,
    );
    expect(conflict).toContain(`      ${id('collides, first')}: collides, first\n`);
    const accept = await scene.why(id('is never accepted'));
    expect(accept).toContain('Accept command failed (exit code 3): echo no such luck; exit 3');
    expect(accept).toContain(
      `    To land it although its accept command failed:\n  → copse merge ${id('is never accepted')}\n`,
    );
    // Only the last try's output, not that of all tries.
    expect(accept.split('\n').filter((line) => line.trim() === 'no such luck')).toHaveLength(1);
  });

  test('lists at the end the tasks for a person, each with its reason and the next command', () => {
    expect(output).toContain('Idle: no task can start or land without you.');
    expect(output).toContain(`needs attention ${id('dirty for ever')} (`);
    expect(output).toContain(
      `    Its agent stopped with 1 uncommitted file: left behind.txt\n    → copse resume ${id('dirty for ever')}\n`,
    );
  });
});

describe('merging a task that needs attention', () => {
  test('is refused for uncommitted files, an unfinished merge, a branch without commits and a conflict', async () => {
    expect(await refusedBy(['merge', id('dirty for ever')], scene.at)).toContain(
      'it has uncommitted changes in left behind.txt.',
    );
    expect(await refusedBy(['merge', id('in the middle of a merge')], scene.at)).toContain(
      `a merge in its worktree is not finished.\n    Resolve and commit it there:\n  → cd `,
    );
    expect(await refusedBy(['merge', id('commits nothing')], scene.at)).toContain('has nothing to land');
    expect(await refusedBy(['merge', id('collides for ever')], scene.at)).toContain(
      'conflicts with main:\n  a.txt',
    );
    const { 'dirty for ever': dirty, 'collides for ever': colliding } = await scene.statuses();
    expect({ dirty, colliding }).toEqual({ dirty: 'needs_attention', colliding: 'needs_attention' });
    expect(existsSync(path.join(scene.folder, '.worktrees', id('collides for ever')))).toBe(true);
  });

  test('lands work that a person accepts, and cleans up after it', async () => {
    const accepted = id('is never accepted');
    expect(await scene.up('--dry-run')).toBe('No task is ready.\n');
    const { code, stderr } = await copse(['orchestrate', '--json'], scene.at);
    expect({ code, stderr: JSON.parse(stderr) as unknown }).toMatchObject({
      code: 2,
      stderr: { error: { reason: '--json needs --dry-run.', next: ['copse orchestrate --dry-run --json'] } },
    });
    const said = await scene.merge(accepted);
    expect(said).toMatch(
      new RegExp(`^Landed ${accepted} as [0-9a-f]{10} \\(without checks: no checks are set\\)\\n`),
    );
    expect(said).toContain(
      '\n    Landed although its accept command failed (exit code 3): echo no such luck; exit 3\n',
    );
    expect(scene.subjects().at(-1)).toBe('feat: q');
    expect(scene.git('worktree', 'list')).not.toContain(accepted);
    expect(scene.git('branch', '--list', `${accepted}/*`)).toBe('');
    expect(await refusedBy(['merge', accepted], scene.at)).toContain(`Cannot merge ${accepted}: it is done.`);
  });
});
