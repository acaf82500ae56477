/** An agent in a sandbox writes objects of its own, and reaches no object of main, of another task or of a person. */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it, vi } from 'vitest';

import { git } from '../../support/cli.ts';
import { newDiskArea, noSandbox } from '../../support/agents/sandbox-matrix.ts';
import { Site } from '../../support/agents/sandbox-site.ts';
import { until } from '../../support/records/turns.ts';

const area = newDiskArea();
vi.setConfig({ testTimeout: 120_000 });
const about = noSandbox === null ? '' : ` (skipped: ${noSandbox})`;

/** Waits for a file that the test writes, after it told the test that it waits. */
const WAITS = ': > .copse/waits && while ! test -f .copse/go; do sleep 0.05; done';
const COMMON = 'common=$(git rev-parse --path-format=absolute --git-common-dir)';
const HONEST = 'echo x > x && git add x && git commit --quiet --message="feat: honest" && copse finish';

/** Under the name that an object of another will have. */
const PLANT =
  'id=$(echo predicted | git hash-object --stdin); mkdir -p "$common/objects/$(echo $id | cut -c 1-2)"; : > "$common/objects/$(echo $id | cut -c 1-2)/$(echo $id | cut -c 3-)"';

const DESTROY = [
  'for file in "$common"/objects/??/*; do chmod u+w "$file"; echo junk > "$file"; done 2> .copse/said',
  'rm -rf "$common"/objects/?? "$common"/copse/objects/*/repository/?? 2>> .copse/said; true',
].join('; ');

class Repository extends Site {
  get common(): string {
    return path.join(this.folder, '.git');
  }

  inWorktree(id: string, name: string): string {
    return path.join(this.worktree(id) || '/nowhere', '.copse', name);
  }

  async waits(id: string): Promise<void> {
    await until(() => existsSync(this.inWorktree(id, 'waits')));
  }

  letGo(id: string): void {
    writeFileSync(this.inWorktree(id, 'go'), '');
  }

  commit(text: string): void {
    writeFileSync(path.join(this.folder, 'person.txt'), text);
    git(this.folder, 'add', '--all');
    git(this.folder, 'commit', '--quiet', '--message=feat: by a person');
  }

  /** The process of the only attempt. */
  runner(): number {
    const name = this.attempts().find((one) => one.endsWith('.runner.json')) ?? '';
    const text = readFileSync(path.join(this.folder, '.copse', 'attempts', name), 'utf8');
    return (JSON.parse(text) as { readonly pid: number }).pid;
  }

  stores(): readonly string[] {
    const folder = path.join(this.common, 'copse', 'objects');
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  /** As a person's git finds it. */
  subjects(branch: string): string {
    try {
      return execFileSync('git', ['log', '--format=%s', branch, '--'], {
        cwd: this.folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trimEnd();
    } catch {
      return '';
    }
  }
}

describe.runIf(noSandbox === null)(`objects of an agent in the sandbox of sandbox-runtime${about}`, () => {
  // promise: sandbox-objects
  it.each(['headless', 'tmux'] as const)(
    'are all that it can delete, overwrite or plant (%s)',
    async (terminal) => {
      const site = new Repository(area);
      const wait = `mkdir -p .copse && git commit --quiet --allow-empty --message="feat: one" && ${WAITS}`;
      site.configure(
        { command: `${COMMON}; ${PLANT}; ${wait}; ${DESTROY}; ${HONEST}`, terminal },
        { landing: { policy: 'auto' } },
      );
      // Loose objects of another task.
      git(site.folder, 'branch', 'cp-other/work');
      const other = path.join(site.place, 'other');
      git(site.folder, 'worktree', 'add', '--quiet', other, 'cp-other/work');
      git(other, 'commit', '--quiet', '--allow-empty', '--message=feat: of another task');
      const id = await site.add('Delete objects');
      const running = site.orchestrate();
      await site.waits(id);
      site.commit('predicted\n');
      git(other, 'commit', '--quiet', '--allow-empty', '--message=feat: made meanwhile');
      const [branch = ''] = git(site.folder, 'for-each-ref', '--format=%(refname)', `refs/heads/${id}`).split(
        '\n',
      );
      await until(() => site.subjects(branch).startsWith('feat: one'));
      site.letGo(id);
      await running;
      expect(git(site.folder, 'show', 'main:person.txt')).toBe('predicted');
      expect(git(site.folder, 'log', '-2', '--format=%s', 'cp-other/work')).toBe(
        'feat: made meanwhile\nfeat: of another task',
      );
      expect(await site.task(id)).toMatchObject({ status: 'done' });
      expect(git(site.folder, 'log', '--format=%s', 'main')).toContain('feat: honest');
      expect(git(site.folder, 'fsck', '--full', '--no-dangling')).toBe('');
      expect({
        stores: site.stores(),
        alternates: existsSync(path.join(site.common, 'objects/info/alternates')),
      }).toEqual({ stores: [], alternates: false });
    },
  );

  // promise: sandbox-objects
  it('that it damages are the problem of its own task only', async () => {
    const site = new Repository(area);
    const damage = [
      COMMON,
      `id=$(printf 'tree ${'1'.repeat(40)}\nauthor a <a@b.c> 0 +0000\ncommitter a <a@b.c> 0 +0000\n\nbad\n' | git hash-object -w -t commit --literally --stdin)`,
      'echo $id > "$common/refs/heads/$(git symbolic-ref --short HEAD)"',
    ].join('; ');
    const agent = { sandbox: 'runtime' };
    site.configure(
      {},
      {
        agents: { bad: { ...agent, command: damage }, good: { ...agent, command: HONEST } },
        landing: { policy: 'auto' },
      },
    );
    const bad = await site.add('Damage its branch', '--agent', 'bad');
    const good = await site.add('Work', '--agent', 'good');
    await site.orchestrate();
    expect(await site.task(bad)).toMatchObject({
      status: 'needs_attention',
      reason: expect.stringMatching(
        /The object \w+ of the agent of \S+ cannot be used: it names 1111/,
      ) as string,
    });
    expect(await site.task(good)).toMatchObject({ status: 'done' });
    expect(git(site.folder, 'log', '-1', '--format=%s', 'main')).toContain('feat: honest');
  });

  // promise: sandbox-objects
  it('that a killed runner did not bring are there for the next attempt', async () => {
    const site = new Repository(area);
    const first = `mkdir -p .copse && ${WAITS} && echo y > y && git add y && git commit --quiet --message="feat: late" && : > .copse/committed; sleep 60`;
    site.configure(
      { command: `if test -f .copse/committed; then ${HONEST}; else ${first}; fi` },
      { landing: { policy: 'auto' } },
    );
    const id = await site.add('Lose its runner');
    const running = site.orchestrate();
    await site.waits(id);
    const runner = site.runner();
    process.kill(runner, 'SIGSTOP');
    site.letGo(id);
    await until(() => existsSync(site.inWorktree(id, 'committed')));
    expect(site.stores()).toHaveLength(1);
    process.kill(runner, 'SIGKILL');
    await running;
    expect(await site.task(id)).toMatchObject({ status: 'done' });
    expect(git(site.folder, 'log', '--format=%s', 'main')).toContain('feat: late');
    expect(site.stores()).toEqual([]);
  });
});
