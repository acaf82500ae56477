/** Processes that try to outlive their attempt: without their environment, their session and their parents. */

import { chmodSync, copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import {
  groupMembers,
  openGroup,
  closeGroup,
  ownGroup,
} from '../../../packages/copse/src/processes/cgroup.ts';
import { answer, copse, git, newArea, newRepository } from '../../support/cli.ts';
import { Hiders, running } from '../../support/agents/hiders.ts';
import { copseAsPlainUser, giveToPlainUser } from '../../support/agents/plain-user.ts';
import { newDiskArea } from '../../support/agents/sandbox-matrix.ts';
import { endAgents } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

const hasGroups = process.platform === 'linux' && ownGroup() !== undefined;
const about = hasGroups ? '' : ' (skipped: this machine lets nobody make control groups here)';

describe.runIf(hasGroups)(`where control groups can be made${about}`, () => {
  // promise: no-process-left
  test('a process that wiped its environment and left its parents at once ends with the attempt', async () => {
    const folder = newRepository(area);
    const seconds = String(100_000 + process.pid);
    writeFileSync(
      path.join(folder, 'agent.sh'),
      `for i in 1 2 3; do (cd / && setsid env -i /bin/sh -c 'sleep ${seconds} & exec sleep ${seconds}' < /dev/null > /dev/null 2>&1 &); done
       sleep 0.2
       cat /proc/self/cgroup > "$COPSE_REPO_ROOT/../seen-${process.pid}"
       copse finish --no-changes\n`,
    );
    const agents = { agent: { command: 'sh ./agent.sh' } };
    const policy = { min_free_memory: '50MB', poll_interval: '300ms' };
    writeFileSync(path.join(folder, 'copse.yml'), JSON.stringify({ agents, policy }));
    git(folder, 'add', '--all');
    git(folder, 'commit', '--quiet', '--message=chore: agents');
    const at = { cwd: folder };
    const { id } = await answer<{ readonly id: string }>(['add', 'Stay'], at);
    try {
      await copse(['orchestrate', '--until-idle'], at);
      expect(await answer(['show', id], at)).toMatchObject({ status: 'done' });
      const seen = readFileSync(path.join(folder, '..', `seen-${process.pid}`), 'utf8');
      const [, group] = /^0::.*\/(copse-at-[^/\n]+)/m.exec(seen) ?? [];
      expect(group).toBeDefined();
      expect(running(seconds)).toEqual([]);
      expect(groupMembers(path.join(ownGroup() ?? '/', group ?? ''))).toEqual([]);
    } finally {
      for (const pid of running(seconds)) process.kill(pid, 'SIGKILL');
    }
  });

  test('a group is made below the own one, and removed', async () => {
    const group = openGroup(`test-${process.pid}`);
    expect(group).toContain(`copse-test-${process.pid}`);
    expect(groupMembers(group ?? '')).toEqual([]);
    await closeGroup(group ?? '');
    expect(readdirSync(ownGroup() ?? '/')).not.toContain(`copse-test-${process.pid}`);
  });
});

describe.runIf(process.platform === 'linux')('a user who can make no control groups', () => {
  const agentOf = (line: string) => ({
    agent: { command: `${line} && echo x > x && git add x && git commit -qm 'feat: x' && copse finish` },
  });
  const policy = { min_free_memory: '50MB', poll_interval: '300ms' };

  /** The repository, and what `why` says about its only task when an orchestrator is done. */
  async function run(name: string, config: object): Promise<string> {
    const folder = newRepository(area);
    const home = path.join(area, `home of ${name}`);
    mkdirSync(home);
    writeFileSync(path.join(folder, 'copse.yml'), JSON.stringify({ policy, ...config }));
    git(folder, 'add', '--all');
    git(folder, 'commit', '--quiet', '--message=chore: agents');
    git(folder, 'config', 'user.name', 'Agent');
    git(folder, 'config', 'user.email', 'agent@example.invalid');
    giveToPlainUser(area);
    const at = { cwd: folder, home };
    const added = await copseAsPlainUser(['add', 'Stay', '--json'], at);
    const { id } = JSON.parse(added.stdout) as { readonly id: string };
    expect(await copseAsPlainUser(['orchestrate', '--until-idle'], at)).toMatchObject({ code: 0 });
    return (await copseAsPlainUser(['why', id], at)).stdout;
  }

  // promise: no-process-left
  test('is left no process by agents, accept commands, checks and teardown, however they hide', async () => {
    const place = path.join(area, 'hidden');
    mkdirSync(place);
    const [agent, accept, check, teardown] = ['agent', 'accept', 'check', 'teardown'].map(
      (caller) => new Hiders(place, caller),
    ) as [Hiders, Hiders, Hiders, Hiders];
    try {
      const said = await run('hiders', {
        agents: agentOf(agent.line),
        finish: { accept: [accept.line] },
        landing: { policy: 'auto', checks: { test: check.line } },
        workspace: { teardown: [teardown.line] },
      });
      expect(said).toContain('Landed as');
      const left = { agent: agent.left, accept: accept.left, check: check.left, teardown: teardown.left };
      expect(left).toEqual({ agent: [], accept: [], check: [], teardown: [] });
      const ran = readdirSync(place).filter((name) => name.endsWith('.ran'));
      expect(ran).toEqual(['accept.ran', 'agent.ran', 'check.ran', 'teardown.ran']);
    } finally {
      for (const one of [agent, accept, check, teardown]) one.end();
    }
  });

  // promise: no-process-left
  test.runIf(process.getuid?.() === 0)(
    'is told the processes of other users that an agent left and that Copse cannot end',
    async () => {
      // A program with rights of its own, as root can install it.
      const other = path.join(newDiskArea(), 'as-another-user');
      copyFileSync('/usr/bin/setpriv', other);
      chmodSync(path.dirname(other), 0o755);
      chmodSync(other, 0o4755);
      const seconds = String(3_000_000 + process.pid);
      const start = `'${other}' --reuid=1 --clear-groups sleep ${seconds}`;
      try {
        const said = await run('others', {
          agents: agentOf(`(setsid env -i ${start} < /dev/null > /dev/null 2>&1 &) && sleep 0.2`),
          landing: { policy: 'review' },
        });
        const [pid] = running(seconds);
        expect(said).toContain(`Warning: Still running, cannot be ended: sleep (pid ${pid} of user 1)`);
      } finally {
        for (const pid of running(seconds)) process.kill(pid, 'SIGKILL');
      }
    },
  );
});
