/** What `sandbox: runtime` keeps an agent from, tried from inside by a real one, and what it leaves to it. */

import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { processesOfAttempt } from '../../../packages/copse/src/processes/end.ts';
import { type AttemptId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import type { ProcessIdentity } from '../../../packages/copse/src/kernel/process.ts';
import { answer, copse, git, newRepository, startCopse } from '../../support/cli.ts';
import {
  Around,
  matrix,
  newDiskArea,
  noSandbox,
  onlyGit,
  quoted,
  pathWithSandbox,
} from '../../support/agents/sandbox-matrix.ts';
import { running } from '../../support/agents/hiders.ts';
import { Site } from '../../support/agents/sandbox-site.ts';
import { until } from '../../support/records/turns.ts';

const area = newDiskArea();

/** With its reason in the report where it is skipped. */
const about = noSandbox === null ? '' : ` (skipped: ${noSandbox})`;

/** A server on this machine, and a line for the shell that succeeds if it can be reached. */
async function reachable() {
  const server = createServer((_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const node = `NODE_USE_ENV_PROXY=1 ${quoted(process.execPath)} -e`;
  return {
    host,
    tries: `${node} "fetch('http://${host}').then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1))"`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

describe.runIf(noSandbox === null)(`an agent in the sandbox of sandbox-runtime${about}`, () => {
  // promise: sandbox-files, sandbox-network, sandbox-hidden
  // setting: agents.<name>.sandbox, agents.<name>.sandbox_hosts
  it('can do its work and report, and cannot change anything else', { timeout: 180_000 }, async () => {
    const site = new Site(area);
    const around = await Around.open(site.place, site.folder);
    try {
      const report =
        'copse phase working && copse ledger add learning "seen from inside" && copse finish --summary "all tried"';
      site.configure({
        command: `sh ${quoted(around.script)} && ${report}`,
        sandbox_hosts: [`127.0.0.1:${around.modelPort}`],
      });
      const id = await site.add('Try everything');
      git(site.folder, 'pack-refs', '--all');
      const before = site.others(id);
      await site.orchestrate();
      const worktree = site.worktree(id);
      const inside = around.tried(worktree);
      expect(inside.did).toEqual(matrix.allowed);
      expect(inside.couldNot).toEqual(matrix.forbidden);
      expect(site.others(id)).toEqual(before);
      expect(await site.task(id)).toMatchObject({ status: 'in_review' });
      expect(await answer(['ledger', 'list', '--task', id], site.at)).toMatchObject({
        entries: [{ text: 'seen from inside' }],
      });
      expect(site.attempts()).toEqual([]);
      expect(existsSync(path.join(site.folder, '.git', 'refs', 'heads', id, '.copse-sandbox'))).toBe(false);

      expect(around.left('attempt')).toEqual([]);

      // Each line can succeed: what kept it from that was the sandbox.
      await around.tryOutside(worktree, id, site.home);
      expect(around.tried(worktree)).toEqual({
        did: [...matrix.forbidden, ...matrix.allowed],
        couldNot: [],
      });
    } finally {
      await around.close();
    }
  });

  it('can commit while another process packs the refs', { timeout: 120_000 }, async () => {
    const site = new Site(area);
    site.configure({
      command:
        'mkdir -p .copse && git commit --quiet --allow-empty --message="feat: one" && : > .copse/waits && while ! test -f .copse/go; do sleep 0.1; done && echo x > x && git add x && git commit --quiet --message="feat: two" && copse finish',
    });
    const id = await site.add('Commit twice');
    const running = site.orchestrate();
    await until(() => existsSync(path.join(site.worktree(id) || '/nowhere', '.copse', 'waits')));
    git(site.folder, 'pack-refs', '--all', '--prune');
    writeFileSync(path.join(site.worktree(id), '.copse', 'go'), '');
    await running;
    expect(await site.task(id)).toMatchObject({ status: 'in_review' });
    expect(git(site.worktree(id), 'log', '--format=%s', 'main..')).toBe('feat: two\nfeat: one');
  });

  // promise: sandbox-files
  // setting: agents.<name>.sandbox_write, agents.<name>.sandbox_read
  it('has its accept commands run in the same sandbox', { timeout: 120_000 }, async () => {
    const site = new Site(area);
    const opened = path.join(site.place, 'opened');
    mkdirSync(opened);
    const escape =
      'mkdir -p .copse; echo x > "$COPSE_REPO_ROOT/escaped"; echo "$COPSE_SANDBOX" > .copse/accepted';
    const copy = `cp "$HOME/.ssh/id_ed25519" ${quoted(path.join(opened, 'copy'))}`;
    site.configure({
      command: `${copy} && echo ${quoted(escape)} > check.sh && git add check.sh && git commit --quiet --message="feat: check" && copse finish`,
      sandbox_write: [opened],
      sandbox_read: ['~/.ssh/id_ed25519'],
    });
    const id = await site.add('Escape by acceptance', '--accept', 'sh check.sh');
    await site.orchestrate();
    expect(readFileSync(path.join(site.worktree(id), '.copse', 'accepted'), 'utf8')).toBe('runtime\n');
    expect(existsSync(path.join(site.folder, 'escaped'))).toBe(false);
    expect(readFileSync(path.join(opened, 'copy'), 'utf8')).toBe('secret\n');
    expect(await site.task(id)).toMatchObject({ status: 'in_review' });
  });

  // promise: sandbox-files, checks-confined
  // setting: landing.sandbox, landing.sandbox_hosts, landing.sandbox_write, landing.pass_env
  it(
    'has what it wrote run in a sandbox when the queue checks it and when its worktree is torn down',
    { timeout: 120_000 },
    async () => {
      const site = new Site(area);
      await using local = await reachable();
      const opened = path.join(site.place, 'opened');
      mkdirSync(opened);
      const allowed = `echo x > ${quoted(path.join(opened, 'by check'))}; ${local.tries} && echo reached; `;
      const escape = (name: string) =>
        [
          `echo x > "$COPSE_REPO_ROOT/escaped-${name}"`,
          `git update-ref refs/heads/escaped-${name} HEAD`,
          `cat "$HOME/.ssh/id_ed25519" "$COPSE_REPO_ROOT/.copse/board.db" "$COPSE_REPO_ROOT/.git/HEAD"`,
          `env; echo "sandbox: $COPSE_SANDBOX"`,
          'true',
        ].join('; ');
      // The script of the base runs, and starts the one of the worktree.
      const inBase = 'echo from the base; sh "$COPSE_WORKTREE_PATH/teardown.sh"\n';
      writeFileSync(path.join(site.folder, 'teardown.sh'), inBase);
      site.configure(
        {
          command: `echo ${quoted(allowed + escape('check'))} > check.sh && echo ${quoted(escape('teardown'))} > teardown.sh && git add --all && git commit --quiet --message="feat: scripts" && copse finish`,
        },
        {
          landing: {
            policy: 'auto',
            checks: { test: 'sh ./check.sh' },
            sandbox_hosts: [local.host],
            sandbox_write: [opened],
            pass_env: ['GITLAB_TOKEN'],
          },
          workspace: { teardown: ['sh ./teardown.sh'] },
        },
      );
      const id = await site.add('Escape later');
      const env = { ...site.at.env, GH_TOKEN: 'hidden', GITLAB_TOKEN: 'passed' };
      await copse(['orchestrate', '--until-idle'], { ...site.at, env });
      expect(await site.task(id)).toMatchObject({ status: 'done' });
      await copse(['cleanup', id, '--force'], { ...site.at, env });
      const logs = path.join(site.folder, '.copse', 'logs');
      const [run = ''] = readdirSync(path.join(logs, 'queue'));
      const check = readFileSync(path.join(logs, 'queue', run, 'test.log'), 'utf8');
      const teardown = readFileSync(path.join(logs, id, 'teardown-1.log'), 'utf8');
      expect(teardown).toContain('from the base');
      expect(check).toMatch(/^reached$/m);
      expect(check).toContain('GITLAB_TOKEN=passed');
      expect(readdirSync(opened)).toEqual(['by check']);
      for (const said of [check, teardown]) {
        expect(said).toContain('sandbox: runtime');
        expect(said).toContain('ref: refs/heads/main');
        expect(said).not.toMatch(/^secret|SQLite format|hidden/m);
      }
      const main = readdirSync(site.folder).filter((name) => name.startsWith('escaped'));
      expect({
        main,
        refs: git(site.folder, 'for-each-ref', '--format=%(refname)', 'refs/heads/escaped*'),
      }).toEqual({
        main: [],
        refs: '',
      });
      expect(readdirSync(path.join(site.folder, '.copse', 'checks'))).toEqual([]);
    },
  );

  // promise: sandbox-processes-end
  it(
    'leaves no process behind when it is paused, or when the sandbox or its runner is killed',
    { timeout: 180_000 },
    async () => {
      const site = new Site(area);
      const stays = String(5_000_000 + process.pid);
      const areGone = async (attempt: AttemptId) =>
        (await processesOfAttempt(attempt)).length === 0 && running(stays).length === 0;
      site.configure({
        command: `sleep 600 & setsid env -i sleep ${stays} & mkdir -p .copse; : > .copse/works; sleep 602`,
      });
      const id = await site.add('Stay for long');
      const orchestrator = startCopse(['orchestrate'], site.at);
      try {
        const attemptOf = async (already: readonly string[]) => {
          let found: string | undefined;
          await until(() => {
            found = site.attempts().find((name) => name.endsWith('.sandbox') && !already.includes(name));
            return (
              found !== undefined && existsSync(path.join(site.worktree(id) || '/nowhere', '.copse', 'works'))
            );
          });
          return brand<AttemptId>((found ?? '').replace(/\.sandbox$/, ''));
        };
        const first = await attemptOf([]);
        const srt = (await processesOfAttempt(first)).find(({ pid }) =>
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[1]?.endsWith('dist/cli.js'),
        );
        expect((await processesOfAttempt(first)).length).toBeGreaterThan(4);
        await until(() => running(stays).length === 1);
        process.kill(srt?.pid ?? 0, 'SIGKILL');
        await until(() => areGone(first));

        const second = await attemptOf([`${first}.sandbox`]);
        await until(() => running(stays).length === 1);
        const runner = path.join(site.folder, '.copse', 'attempts', `${second}.runner.json`);
        process.kill((JSON.parse(readFileSync(runner, 'utf8')) as ProcessIdentity).pid, 'SIGKILL');
        await until(() => areGone(second));

        const third = await attemptOf([`${first}.sandbox`, `${second}.sandbox`]);
        await until(() => running(stays).length === 1);
        const paused = await copse(['pause', id], site.at);
        expect(paused).toMatchObject({ code: 0 });
        await until(() => areGone(third));
        await until(() => site.attempts().length === 0);
      } finally {
        orchestrator.kill('SIGINT');
        await new Promise((resolve) => orchestrator.once('close', resolve));
      }
    },
  );
});

describe('an agent whose sandbox is not available', () => {
  interface Agents {
    readonly agents: readonly { readonly name: string; readonly sandbox: string }[];
    readonly unusable: readonly { readonly name: string; readonly reason: string }[];
  }

  async function agentsOf(agent: object, env: Readonly<Record<string, string>> = {}): Promise<Agents> {
    const folder = newRepository(area);
    const agents = { agent: { command: 'true', ...agent }, free: { command: 'true' } };
    writeFileSync(path.join(folder, 'copse.yml'), JSON.stringify({ agents }));
    return answer<Agents>(['agents'], { cwd: folder, env });
  }

  // promise: sandbox-required
  it('is not started, and one sentence says why and what to do', async () => {
    const nothing = { PATH: onlyGit(area) };
    const cases: readonly (readonly [object, string])[] = [
      [{ sandbox: 'docker', docker: { image: 'some/image' } }, 'Docker does not answer'],
      [{ sandbox: 'docker' }, 'no image is set: set agents.agent.docker.image'],
      [
        { sandbox: 'runtime' },
        'the package @anthropic-ai/sandbox-runtime is not installed globally. Install it: npm install --global @anthropic-ai/sandbox-runtime',
      ],
      [
        { sandbox: 'runtime', workspace: { branch_pattern: '{task}-{slug}' } },
        'it could move branches of other tasks',
      ],
      [
        { sandbox: 'runtime', workspace: { branch_pattern: 'copse/{task}-{slug}' } },
        'it could move branches of other tasks',
      ],
      [{ sandbox: 'runtime', workspace: { strategy: 'static' } }, 'works in the main checkout'],
    ];
    for (const [agent, reason] of cases) {
      const { agents, unusable } = await agentsOf(agent, nothing);
      expect(agents.map(({ name, sandbox }) => [name, sandbox])).toEqual([['free', 'none']]);
      expect(unusable).toMatchObject([{ name: 'agent', reason: expect.stringContaining(reason) as string }]);
    }
  });

  // promise: programs-from-path
  it.runIf(noSandbox === null)(
    'is not given one from the repository, whatever landed in it or is first on the PATH',
    async () => {
      const folder = newRepository(area);
      const planted = path.join(folder, 'node_modules', '@anthropic-ai', 'sandbox-runtime', 'dist');
      mkdirSync(planted, { recursive: true });
      writeFileSync(path.join(planted, 'cli.js'), '');
      writeFileSync(path.join(planted, '..', 'package.json'), '{"name":"@anthropic-ai/sandbox-runtime"}');
      const sdk = path.join(folder, 'node_modules', '@anthropic-ai', 'claude-agent-sdk');
      mkdirSync(sdk, { recursive: true });
      writeFileSync(path.join(sdk, 'package.json'), '{"name":"x","version":"9.9.9","main":"x.js"}');
      writeFileSync(path.join(sdk, 'x.js'), 'exports.query = () => {};');
      const bin = path.join(folder, 'node_modules', '.bin');
      mkdirSync(bin);
      for (const name of ['bwrap', 'docker', 'codex'])
        writeFileSync(path.join(bin, name), '#!/bin/sh\necho 9.9.9\n', { mode: 0o755 });
      const agents = {
        confined: { command: 'true', sandbox: 'runtime' },
        contained: { command: 'true', sandbox: 'docker', docker: { image: 'x' } },
        sdk: { runtime: 'claude-sdk' },
        codex: { runtime: 'codex' },
      };
      writeFileSync(path.join(folder, 'copse.yml'), JSON.stringify({ agents }));
      const env = { PATH: `${bin}:${onlyGit(area)}` };
      const found = await answer<Agents>(['agents'], { cwd: folder, env });
      expect(found.unusable.map(({ name }) => name)).toEqual(['confined', 'contained', 'sdk', 'codex']);
      expect(found.agents).toEqual([]);
    },
  );

  it.runIf(noSandbox === null)('names the missing system programs', async () => {
    const folder = newRepository(area);
    writeFileSync(
      path.join(folder, 'copse.yml'),
      JSON.stringify({ agents: { agent: { command: 'true', sandbox: 'runtime' } } }),
    );
    const env = {
      PATH: onlyGit(area),
      NPM_CONFIG_PREFIX: path.dirname(pathWithSandbox(area).split(path.delimiter, 1)[0] ?? ''),
    };
    const { unusable } = await answer<Agents>(['agents'], { cwd: folder, env });
    expect(unusable[0]?.reason).toContain('apt install bubblewrap socat ripgrep');
  });
});
