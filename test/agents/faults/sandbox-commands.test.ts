/** Commands of copse.yml that run what an agent in a sandbox wrote: they run in a sandbox, too. */

import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { copse, git } from '../../support/cli.ts';
import { newDiskArea, noSandbox, onlyGit, quoted } from '../../support/agents/sandbox-matrix.ts';
import { Site } from '../../support/agents/sandbox-site.ts';
import { until } from '../../support/records/turns.ts';

const area = newDiskArea();

/** Says where it runs, and writes into the main checkout if it can. */
function escape(site: Site, name: string): string {
  return `echo "${name} in: \${COPSE_SANDBOX:-no sandbox}"; echo x > ${quoted(path.join(site.folder, `escaped-${name}`))}; true`;
}

function escaped(site: Site): readonly string[] {
  return readdirSync(site.folder).filter((name) => name.startsWith('escaped'));
}

function saidIn(site: Site, id: string, log: string): readonly string[] {
  const text = readFileSync(path.join(site.folder, '.copse', 'logs', id, log), 'utf8');
  return text.split('\n').filter((line) => /^\w+ in: /.test(line));
}

/** With a set-up script of the base, which the agent replaces by one that escapes. */
function withSetup(command: (takeOver: string) => string, max_retries: number): Site {
  const site = new Site(area);
  writeFileSync(path.join(site.folder, 'setup.sh'), 'echo "base in: ${COPSE_SANDBOX:-no sandbox}"\n');
  const takeOver = `echo ${quoted(escape(site, 'setup'))} > setup.sh && git add --all && git commit --quiet --message="feat: setup"`;
  const policy = {
    first_backoff: '100ms',
    max_retries,
    poll_interval: '500ms',
    min_free_memory: '50MB',
  };
  site.configure({ command: command(takeOver) }, { policy, workspace: { setup: ['sh ./setup.sh'] } });
  return site;
}

describe.runIf(noSandbox === null)('commands on what an agent in a sandbox wrote', () => {
  // promise: sandbox-files, sandbox-commands
  it(
    'are not run for set-up again because the agent says so, and in its sandbox when its worktree is made anew',
    { timeout: 120_000 },
    async () => {
      const site = withSetup(
        (takeOver) =>
          [
            'case $(git rev-list --count main..) in',
            `0) ${takeOver}; rm -f "$(git rev-parse --git-dir)/copse-furnished"; exit 1;;`,
            '1) git commit --quiet --allow-empty --message="feat: more"; echo x > "$(git rev-parse --git-dir)/HEAD"; exit 1;;',
            '*) copse finish;;',
            'esac',
          ].join('\n'),
        3,
      );
      const id = await site.add('Set up again');
      await site.orchestrate();
      expect(await site.task(id)).toMatchObject({ status: 'in_review' });
      expect(saidIn(site, id, 'setup-1.log')).toEqual(['base in: no sandbox', 'setup in: runtime']);
      expect(escaped(site)).toEqual([]);
    },
  );

  // promise: sandbox-commands
  it(
    'are run for set-up in a sandbox for a person who continues its work, or not at all',
    { timeout: 120_000 },
    async () => {
      const site = withSetup((takeOver) => `${takeOver}; exit 1`, 0);
      const id = await site.add('Continued by a person');
      await site.orchestrate();
      rmSync(site.worktree(id), { recursive: true });
      expect((await copse(['restart', id], site.at)).code).toBe(0);
      const without = { ...site.at, env: { ...site.at.env, PATH: onlyGit(area) } };
      const refused = await copse(['work', id], without);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain('sandbox-runtime is not installed');
      expect(saidIn(site, id, 'setup-1.log')).toEqual(['base in: no sandbox']);
      const worked = await copse(['work', id, '--resume'], site.at);
      expect(worked).toMatchObject({ code: 0 });
      expect(saidIn(site, id, 'setup-1.log')).toEqual(['base in: no sandbox', 'setup in: runtime']);
      expect(escaped(site)).toEqual([]);
    },
  );

  // promise: sandbox-commands
  it('are run in its sandbox as hooks', { timeout: 120_000 }, async () => {
    const site = new Site(area);
    const hook = (name: string) => [`(${escape(site, name)}) | tee -a .copse/hooks`];
    site.configure({
      command:
        'if test -f .copse/again; then git commit --quiet --allow-empty --message="feat: x"; copse finish; else : > .copse/again; exit 1; fi',
      hooks: { before_run: hook('before'), after_run: hook('after'), on_error: hook('error') },
    });
    const id = await site.add('With hooks');
    await site.orchestrate();
    const said = readFileSync(path.join(site.worktree(id), '.copse', 'hooks'), 'utf8')
      .trim()
      .split('\n');
    expect(said).toEqual(['before', 'error', 'before', 'after'].map((name) => `${name} in: runtime`));
    expect(escaped(site)).toEqual([]);
  });

  // promise: checks-confined
  it(
    'are run in the sandbox of checks when they regenerate or merge a file in conflict',
    { timeout: 120_000 },
    async () => {
      const site = new Site(area);
      const write = (name: string) => {
        for (const file of ['one.lock', 'one.list']) writeFileSync(path.join(site.folder, file), `${name}\n`);
      };
      write('base');
      site.configure(
        {
          command: [
            `echo ${quoted(`(${escape(site, 'lock')}) > one.lock`)} > generate.sh`,
            'echo agent > one.lock; echo agent > one.list; mkdir -p .copse',
            'git add --all && git commit --quiet --message="feat: both" && : > .copse/waits',
            'while ! test -f .copse/go; do sleep 0.1; done; copse finish',
          ].join('\n'),
        },
        {
          landing: {
            policy: 'auto',
            lockfiles: { 'one.lock': ['sh ./generate.sh'] },
            merge_drivers: { '*.list': `(${escape(site, 'driver')}) > %A` },
            checks: { test: 'true' },
          },
        },
      );
      const id = await site.add('In conflict');
      const running = site.orchestrate();
      await until(() => existsSync(path.join(site.worktree(id) || '/nowhere', '.copse', 'waits')));
      write('person');
      git(site.folder, 'commit', '--quiet', '--all', '--message=feat: person');
      writeFileSync(path.join(site.worktree(id), '.copse', 'go'), '');
      await running;
      expect(await site.task(id)).toMatchObject({ status: 'done' });
      expect(git(site.folder, 'show', 'main:one.lock')).toBe('lock in: runtime');
      expect(git(site.folder, 'show', 'main:one.list')).toBe('driver in: runtime');
      expect(escaped(site)).toEqual([]);
      expect(readdirSync(path.join(site.folder, '.copse', 'checks'))).toEqual([]);
    },
  );

  // promise: sandbox-commands
  it(
    'are run for teardown in a sandbox, or not at all, when copse.yml no longer has the agent',
    { timeout: 120_000 },
    async () => {
      const site = new Site(area);
      const workspace = () => ({ teardown: [escape(site, 'teardown')] });
      site.configure({ command: 'git commit --quiet --allow-empty --message="feat: x"; copse finish' }, {});
      const ids = [await site.add('One'), await site.add('Two')];
      await site.orchestrate();
      site.configure({}, { agents: { other: { command: 'true' } }, workspace: workspace() });
      expect((await copse(['config', 'accept', '--yes'], site.at)).code).toBe(0);
      const [first = '', second = ''] = ids;
      const without = { ...site.at, env: { ...site.at.env, PATH: onlyGit(area) } };
      const failed = await copse(['cleanup', first, '--force'], without);
      expect(`${failed.stdout}${failed.stderr}`).toContain('Its teardown did not run');
      const log = path.join(site.folder, '.copse', 'logs', first, 'teardown-1.log');
      expect(readFileSync(log, 'utf8')).toContain('sandbox-runtime is not installed');
      expect(saidIn(site, first, 'teardown-1.log')).toEqual([]);
      await copse(['cleanup', second, '--force'], site.at);
      expect(saidIn(site, second, 'teardown-1.log')).toEqual(['teardown in: runtime']);
      expect(escaped(site)).toEqual([]);
    },
  );
});
