/** How finished work gets onto its target: methods, policies, whoever has the target checked out, and the remote. */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { shellWord } from '../../../packages/copse/src/kernel/shell.ts';
import { answer, copse, git, newArea, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene, refusedBy } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));
/** Two commits in files of its own. */
const TWO = 'commit "$COPSE_TASK_ID one" "$COPSE_TASK_ID.1"; commit "$COPSE_TASK_ID two" "$COPSE_TASK_ID.2"';

describe('without a remote', () => {
  let scene: Scene;
  let output: string;
  const ids: Record<string, string> = {};
  const id = (title: string): string => ids[title] ?? expect.fail(`There is no task ${title}`);

  beforeAll(async () => {
    scene = newScene(area, {
      agents: {
        plain: {},
        merger: { capabilities: ['merge'], landing: { method: 'merge' } },
        squasher: { capabilities: ['squash'], landing: { method: 'squash' } },
        reviewed: { capabilities: ['review'], landing: { policy: 'review', target: 'release' } },
        keeper: { capabilities: ['none'], landing: { policy: 'none' } },
      },
      sections: { landing: { target: 'main' } },
    });
    scene.git('branch', 'release');
    const add = async (title: string, script: string, ...options: readonly string[]) => {
      ids[title] = await scene.add(title, script, ...options);
    };
    await Promise.all([
      add('rebased', TWO),
      add('merged', TWO, '--requires', 'merge'),
      add('squashed', TWO, '--requires', 'squash'),
      add('reviewed', TWO, '--requires', 'review'),
      add('kept', TWO, '--requires', 'none'),
      add('overlaps', 'echo agent >> a.txt; git commit --quiet --all --message="feat: overlaps"'),
    ]);
    await add(
      'dependant',
      'test -f "$(ls *.1 | head -n 1)" && commit dependant d.txt',
      '--depends',
      id('reviewed'),
    );
    writeFileSync(path.join(scene.folder, 'a.txt'), '1\n2\n3\nmine\n');
    output = await scene.up();
  });

  // promise: authorship-kept
  // setting: agents.<name>.landing.method, landing.method
  test('each method leaves the documented history, with the task in it', () => {
    const ofTask = (title: string, format: string) =>
      scene
        .git('log', `--grep=^Task: ${id(title)}$`, '--topo-order', '--reverse', `--format=${format}`, 'main')
        .split('\n');
    expect(ofTask('rebased', '%an %cn %p %s').map((line) => line.replace(/ \w+ /, ' '))).toHaveLength(2);
    expect(ofTask('rebased', '%an|%cn|%s')).toEqual([
      `Ada|Copse|feat: ${id('rebased')} one`,
      `Ada|Copse|feat: ${id('rebased')} two`,
    ]);
    expect(ofTask('squashed', '%s')).toEqual(['squashed']);
    expect(ofTask('merged', '%s').at(-1)).toBe(`Merge ${id('merged')}/merged into main`);
    expect(scene.git('log', '--merges', '--format=%s', 'main')).toBe(
      `Merge ${id('merged')}/merged into main`,
    );
  });

  // promise: checkout-untouched
  test('the checkout of the target follows, and edits there stay', () => {
    const files = scene.git('ls-files').split('\n');
    expect(files).toEqual(expect.arrayContaining([`${id('rebased')}.1`, `${id('squashed')}.2`]));
    for (const file of files) expect(existsSync(path.join(scene.folder, file))).toBe(true);
    expect(readFileSync(path.join(scene.folder, 'a.txt'), 'utf8')).toBe('1\n2\n3\nmine\n');
    expect(scene.git('status', '--porcelain')).toBe(' M a.txt');
  });

  test('work that overlaps with an edit waits, and every command says for which file', async () => {
    const waiting = `the checkout at ${scene.folder} has uncommitted changes in a.txt`;
    expect((await scene.tasks()).get(id('overlaps'))).toMatchObject({ status: 'landing', waiting });
    expect(await printed(['list'], scene.at)).toContain(`overlaps\n      ${waiting}\n`);
    expect(await scene.why(id('overlaps'))).toContain(waiting);
    expect(output).toContain(`landing ${id('overlaps')} (`);
    const stash = `git -C ${shellWord(scene.folder)} stash push --include-untracked -- a.txt`;
    const steps = `    To stash the changes (or commit them):\n  → ${stash}\n`;
    expect(await scene.why(id('overlaps'))).toContain(steps);
    expect(await printed(['status'], scene.at)).toContain(`→ ${stash}\n`);
    expect(await printed(['queue'], scene.at)).toContain(stash);
    const refusal = await refusedBy(['merge', id('overlaps')], scene.at);
    expect(refusal).toContain(`stays in the queue: ${waiting}.\n${steps}    After that:\n  → copse merge `);
  });

  test('a waiting landing records its reason once, in any number of passes', async () => {
    // Each orchestrator takes the lead of the queue and gives it back.
    const count = async () => (await scene.events()).filter(({ id }) => id !== 'queue:main').length;
    const before = await count();
    for (let looks = 0; looks < 2; looks += 1) await copse(['orchestrate', '--once'], scene.at);
    expect(await count()).toBe(before);
  });

  test('it lands as soon as the edit no longer blocks it', async () => {
    scene.git('checkout', '--quiet', 'a.txt');
    expect(await scene.merge(id('overlaps'))).toContain('Landed');
    expect(readFileSync(path.join(scene.folder, 'a.txt'), 'utf8')).toBe('1\n2\n3\nagent\n');
    expect(scene.git('status', '--porcelain')).toBe('');
  });

  test('after a landing its worktree and its branch are removed; work with the policy none keeps both', () => {
    expect(scene.git('branch', '--format=%(refname:short)').split('\n')).toEqual(
      [`${id('reviewed')}/reviewed`, `${id('kept')}/kept`, 'main', 'release'].toSorted(),
    );
    expect(existsSync(path.join(scene.folder, '.worktrees', id('rebased')))).toBe(false);
    expect(existsSync(path.join(scene.folder, '.worktrees', id('kept')))).toBe(true);
  });

  // setting: agents.<name>.landing.target
  test('reviewed work lands on the target of its agent after an approval, and only then its dependants start', async () => {
    expect(await scene.statuses()).toMatchObject({
      kept: 'done',
      reviewed: 'in_review',
      dependant: 'pending',
    });
    const { landings } = await answer<{ landings: readonly { promoted: readonly string[] }[] }>(
      ['merge', id('reviewed')],
      scene.at,
    );
    expect(landings).toMatchObject([{ landing: 'landed', promoted: [id('dependant')], notes: [] }]);
    // Nobody has it checked out.
    expect(scene.subjects('release').at(-1)).toBe(`feat: ${id('reviewed')} two`);
    expect(scene.subjects()).not.toContain(`feat: ${id('reviewed')} two`);
    expect((await scene.statuses())['dependant']).toBe('ready');
    // It did not begin from that target, and is over all the same.
    expect(existsSync(path.join(scene.folder, '.worktrees', id('reviewed')))).toBe(false);
  });
});

describe('with a remote', () => {
  const REFUSAL = 'frozen until Monday';

  function withRemote(onFailure: string): Scene & { readonly remote: string } {
    const sections = { landing: { push: true, on_push_failure: onFailure } };
    const scene = newScene(area, { sections });
    const remote = `${scene.folder} (remote).git`;
    git(area, 'init', '--quiet', '--bare', '--initial-branch=main', remote);
    scene.git('remote', 'add', 'origin', remote);
    scene.git('push', '--quiet', '--set-upstream', 'origin', 'main');
    return Object.assign(scene, { remote });
  }

  const hookOf = (remote: string) => path.join(remote, 'hooks', 'pre-receive');
  const refuse = (remote: string) => {
    mkdirSync(path.dirname(hookOf(remote)), { recursive: true });
    writeFileSync(hookOf(remote), `#!/bin/sh\necho "${REFUSAL}" >&2\nexit 1\n`, { mode: 0o755 });
  };

  test('a refused push is retried with a backoff', async () => {
    const scene = withRemote('retry');
    refuse(scene.remote);
    const id = await scene.add('pushed', 'commit pushed p.txt');
    const output = await scene.up();
    expect(output).toContain(REFUSAL);
    expect((await scene.tasks()).get(id)).toMatchObject({
      status: 'landing',
      waiting: expect.stringContaining(REFUSAL),
    });
    expect(scene.subjects()).not.toContain('feat: pushed');
    const tries = (await scene.events()).filter(({ type }) => type === 'landing.journalled').length;
    expect(tries).toBe(1);
    rmSync(hookOf(scene.remote));
    // Meanwhile somebody else pushed: nothing of theirs is lost.
    const other = `${scene.folder} (other)`;
    git(area, 'clone', '--quiet', scene.remote, other);
    git(other, 'commit', '--quiet', '--allow-empty', '--message=feat: foreign');
    git(other, 'push', '--quiet');
    await scene.up();
    expect(git(scene.remote, 'log', '--format=%s', '-2')).toBe('feat: pushed\nfeat: foreign');
    expect(scene.git('rev-parse', 'main')).toBe(git(scene.remote, 'rev-parse', 'main'));
  });

  // setting: landing.on_push_failure, landing.push
  test('a refused push leaves the task to a person, or is only reported, as configured', async () => {
    const [failing, warning] = [withRemote('fail'), withRemote('warn')] as const;
    const ids = await Promise.all(
      [failing, warning].map((scene) => scene.add('pushed', 'commit pushed p.txt')),
    );
    for (const { remote } of [failing, warning]) refuse(remote);
    const [first, second] = await Promise.all([failing.up(), warning.up()]);
    expect(first).toContain(`needs you   ${ids[0]} main could not be pushed`);
    expect(failing.subjects()).not.toContain('feat: pushed');
    expect(await failing.why(ids[0] ?? '')).toContain(REFUSAL);
    expect(second).toContain(`${ids[1]} main could not be pushed`);
    expect(second).toContain(REFUSAL);
    expect(warning.subjects()).toContain('feat: pushed');
    expect((await warning.statuses())['pushed']).toBe('done');
    rmSync(hookOf(failing.remote));
    expect(await failing.merge(ids[0] ?? '')).toContain('Landed');
    expect(git(failing.remote, 'log', '--format=%s', '-1')).toBe('feat: pushed');
  });

  // promise: foreign-moves-kept
  test('a target that is only on the remote, and one that diverged from it', async () => {
    const scene = withRemote('retry');
    scene.git('checkout', '--quiet', '-b', 'elsewhere');
    scene.git('branch', '--delete', '--force', 'main');
    const first = await scene.add('first', 'commit first first.txt');
    await scene.up();
    expect(git(scene.remote, 'log', '--format=%s', '-1')).toBe('feat: first');
    expect(scene.git('rev-parse', 'main')).toBe(git(scene.remote, 'rev-parse', 'main'));
    expect(scene.git('status', '--short', '--branch')).toBe('## elsewhere');
    expect((await scene.tasks()).get(first)?.status).toBe('done');

    const other = `${scene.folder} (other)`;
    git(area, 'clone', '--quiet', scene.remote, other);
    git(other, 'commit', '--quiet', '--allow-empty', '--message=feat: theirs');
    git(other, 'push', '--quiet');
    scene.git('checkout', '--quiet', 'main');
    scene.git('commit', '--quiet', '--allow-empty', '--message=feat: ours');
    const second = await scene.add('second', 'commit second second.txt');
    await scene.up();
    expect(await scene.why(second)).toContain(
      'main and origin/main have diverged; run git pull --rebase origin main',
    );
    scene.git('pull', '--quiet', '--rebase', 'origin', 'main');
    await scene.merge(second);
    expect(git(scene.remote, 'log', '--format=%s', '-3')).toBe('feat: second\nfeat: ours\nfeat: theirs');
  });
});

describe('a bare repository', () => {
  test('is worked on and landed on like any other', async () => {
    const from = newScene(area);
    const folder = `${from.folder} (bare).git`;
    git(area, 'clone', '--quiet', '--bare', from.folder, folder);
    git(folder, 'remote', 'remove', 'origin');
    for (const key of ['name', 'email']) git(folder, 'config', `user.${key}`, 'x@example.invalid');
    const at = { cwd: folder };
    const { id } = await answer<{ id: string }>(['add', 'bare'], at);
    from.script(id, 'commit bare b.txt');
    const command = `'${path.join(from.scripts, 'agent').replaceAll("'", `'\\''`)}'`;
    expect(
      await printed(['up', '--until-idle', '--command', command, '--poll-interval', '300ms'], at),
    ).toContain(`done        ${id} landed as `);
    expect(git(folder, 'log', '--format=%s', '-1', 'main')).toBe('feat: bare');
  });
});
