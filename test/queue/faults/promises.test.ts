/**
 * What the merge queue promises about the target, with real git and real checks: 1 to 3 of its promises. The others are in the
 * files beside this one; the decision alone is proven in test/queue/rules/.
 */

import { execFileSync, spawnSync } from 'node:child_process';

import { describe, expect, it, vi } from 'vitest';

import { addPlan } from '../../../packages/copse/src/tasks/act/plans.ts';
import { git, newArea, plainEnv } from '../../support/cli.ts';
import { QueueScene } from '../../support/queue/queue-scene.ts';
import { must } from '../../support/records/tasks.ts';

vi.setConfig({ testTimeout: 240_000 });
const area = newArea();

// promise: checked-tree-lands
describe('promise 1: with checks, the target only ever points at a tree that was checked green, byte for byte', () => {
  it('in batches, with good and bad changes mixed', async () => {
    await using scene = new QueueScene(area, 'green in batches');
    const good = [];
    for (const at of [1, 2, 3, 4]) good.push(await scene.queue(`good ${at}`));
    const bad = await scene.queue('bad one');
    const clashing = [await scene.queue('left one'), await scene.queue('right one')];
    const { landed, blamed } = await scene.lead();
    const tasks = landed.map(({ task }) => task);
    expect(tasks).toEqual(expect.arrayContaining(good));
    expect(clashing.filter((task) => tasks.includes(task))).toHaveLength(1);
    expect(landed.every(({ isVerified }) => isVerified)).toBe(true);
    const notLanded = clashing.find((task) => !tasks.includes(task));
    expect(new Set(blamed.map(({ task }) => task))).toEqual(new Set([bad, notLanded]));
    expectOnlyGreen(scene, scene.tips.slice(1));
    expectNeverRewound(scene);
  });

  // setting: landing.every_commit_green
  it('every commit green: each change’s result was also checked alone', async () => {
    await using scene = new QueueScene(area, 'every commit green', { landing: { every_commit_green: true } });
    const good = [await scene.queue('good 1'), await scene.queue('good 2'), await scene.queue('good 3')];
    await scene.queue('bad one');
    const { landed } = await scene.lead();
    expect(landed.map(({ task }) => task)).toEqual(expect.arrayContaining(good));
    expect(landed).toHaveLength(3);
    expectOnlyGreen(scene, scene.tips.slice(1));
    expectOnlyGreen(scene, git(scene.folder, 'rev-list', `${scene.tips[0]}..main`).split('\n'));
  });

  it('a green verdict of one tree does not count for another that differs in one byte', async () => {
    await using scene = new QueueScene(area, 'one byte');
    await scene.queue('fine');
    await scene.lead();
    const other = await scene.queue('other', { commit: { files: { 'fine.txt': 'fine!\n', bad: '' } } });
    const { landed, blamed } = await scene.lead();
    expect(landed).toEqual([]);
    expect(blamed.at(-1)).toMatchObject({ task: other, cause: { because: 'checks' } });
    expectOnlyGreen(scene, scene.tips.slice(1));
  });
});

// promise: only-own-changes
describe('promise 2: nothing on the target is reverted, and a landing has only the task’s own changes', () => {
  it.each(['rebase', 'merge', 'squash'])(
    'by %s, each net change is exactly what was submitted',
    async (method) => {
      const lines = (text: string) => Array.from({ length: 40 }, (_, at) => `${text} ${at}\n`);
      const shared = lines('line');
      await using scene = new QueueScene(area, `net change by ${method}`, {
        landing: { method, checks: {} },
        files: { 'shared.txt': shared.join(''), 'other.txt': 'other\n' },
      });
      const first = scene.tip;
      const heads = new Map<string, string>();
      for (const [at, line] of [5, 20, 35].entries()) {
        const branch = `change-${at}`;
        const changed = shared.with(line, `changed by ${at}\n`).join('');
        scene.commit(branch, { message: `one ${at}`, files: { 'shared.txt': changed } });
        const head = scene.commit(branch, { message: `two ${at}`, files: { [`new ${at}.txt`]: `${at}\n` } });
        heads.set(await scene.queue(branch, { head }), head);
      }
      const { landed } = await scene.lead();
      expect(landed).toHaveLength(3);
      let before = first;
      for (const { task, commit } of landed) {
        const head = heads.get(task) ?? expect.fail(`${task} was not queued`);
        expect(patchId(scene, before, commit)).toBe(patchId(scene, first, head));
        expect(pathsOf(scene, before, commit)).toEqual(pathsOf(scene, first, head));
        before = commit;
      }
      expectNeverRewound(scene);
    },
  );

  it('a branch whose merge reverts other work is handed back with a list of the reverted files', async () => {
    await using scene = new QueueScene(area, 'evil merge');
    const worktree = `${scene.folder} evil`;
    scene.commit('evil', { message: 'mine', files: { 'mine.txt': 'mine\n' } });
    await scene.queue('theirs');
    await scene.lead();
    git(scene.folder, 'worktree', 'add', '--quiet', worktree, 'evil');
    git(worktree, 'merge', '--quiet', '--strategy=ours', '--message=merge main', 'main');
    const tip = scene.tip;
    const evil = await scene.queue('evil', { head: git(worktree, 'rev-parse', 'HEAD') });
    const { landed, blamed } = await scene.lead();
    expect(landed).toEqual([]);
    expect(blamed).toMatchObject([{ task: evil, cause: { because: 'conflict', files: ['theirs.txt'] } }]);
    expect(blamed[0]?.cause.reason).toContain('reverts changes that other tasks landed');
    expect(scene.tip).toBe(tip);
    expect(await scene.status(evil)).toBe('needs_attention');
  });
});

// promise: authorship-kept
describe('promise 3: author, author date and message are kept; the committer is the queue; trailers name the task', () => {
  it.each(['rebase', 'merge', 'squash'])('by %s', async (method) => {
    await using scene = new QueueScene(area, `kept by ${method}`, { landing: { method, checks: {} } });
    const plan = must(await addPlan(await scene.open(), { title: 'A plan', body: '' }));
    const grace = { author: 'Grace Höpper <grace@example.invalid>', authored: '1000000000 -0330' };
    const message = 'feat: count — ä\n\nBecause of “this”.\n\n * and that\n';
    const files = { 'counted.txt': '1\n' };
    await scene.queue('something else');
    const task = await scene.queue('counting', { plan: plan.id, commit: { message, files, ...grace } });
    const { landed } = await scene.lead();
    const { commit = '' } = landed.find((one) => one.task === task) ?? {};
    const show = (format: string, of: string) =>
      git(scene.folder, 'show', '--no-patch', '--date=raw', `--format=${format}`, of);
    // With a merge commit it is still the one that was made on the branch.
    const made = git(scene.folder, 'log', '--max-count=1', '--format=%H', 'main', '--', 'counted.txt');
    expect(show('%an <%ae>|%ad', made)).toBe(`${grace.author}|${grace.authored}`);
    expect(show('%B', made)).toContain(message.trimEnd());
    expect(show('%cn', commit)).toBe('Copse');
    const trailer = (key: string) => show(`%(trailers:key=${key},valueonly)`, commit).trim();
    expect({ task: trailer('Task'), plan: trailer('Plan') }).toEqual({ task, plan: plan.id });
    expect(made === commit).toBe(method !== 'merge');
  });
});

function expectOnlyGreen(scene: QueueScene, commits: readonly string[]): void {
  const { green } = scene;
  expect(commits.length).toBeGreaterThan(0);
  expect(commits.filter((commit) => !green.has(scene.treeOf(commit)))).toEqual([]);
}

function expectNeverRewound({ tips, folder }: QueueScene): void {
  for (const [at, tip] of tips.slice(1).entries())
    expect(spawnSync('git', ['merge-base', '--is-ancestor', tips[at]!, tip], { cwd: folder }).status).toBe(0);
}

function pathsOf({ folder }: QueueScene, from: string, to: string): string {
  return git(folder, 'diff', '--name-only', '-z', from, to);
}

function patchId({ folder }: QueueScene, from: string, to: string): string {
  const options = { cwd: folder, env: plainEnv, encoding: 'utf8' } as const;
  const diff = execFileSync('git', ['diff', '--unified=1', from, to], options);
  return execFileSync('git', ['patch-id', '--stable'], { ...options, input: diff }).split(' ')[0] ?? '';
}
