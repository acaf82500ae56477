/** Processes that try to outlive their attempt: without their environment, their session and their parents. */

import { chmodSync, copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, describe, expect, test } from 'vitest';

import {
  groupMembers,
  openGroup,
  closeGroup,
  ownGroup,
} from '../../../packages/copse/src/processes/cgroup.ts';
import { answer, copse, git, newArea, newRepository, commitAsAgent } from '../../support/cli.ts';
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
  const policy = { min_free_memory: '50MB', poll_interval: '300ms', first_backoff: '100ms' };

  /** A repository of that user with one task. */
  async function prepare(name: string, config: object) {
    const folder = newRepository(area);
    const home = path.join(area, `home of ${name}`);
    mkdirSync(home);
    writeFileSync(path.join(folder, 'copse.yml'), JSON.stringify({ policy, ...config }));
    git(folder, 'add', '--all');
    git(folder, 'commit', '--quiet', '--message=chore: agents');
    commitAsAgent(folder);
    giveToPlainUser(area);
    const at = { cwd: folder, home };
    const added = await copseAsPlainUser(['add', 'Stay', '--json'], at);
    const { id } = JSON.parse(added.stdout) as { readonly id: string };
    return { at, why: async () => (await copseAsPlainUser(['why', id], at)).stdout };
  }

  /** What `why` says about the task when an orchestrator is done. */
  async function run(name: string, config: object): Promise<string> {
    const { at, why } = await prepare(name, config);
    const { code } = await copseAsPlainUser(['orchestrate', '--until-idle'], at);
    // 5: the task needs a person.
    expect([0, 5]).toContain(code);
    return why();
  }

  /** A program with rights of its own, as root can install it, that sleeps as another user. */
  function sleepAsAnother(seconds: string): string {
    const file = path.join(newDiskArea(), 'as-another-user');
    copyFileSync('/usr/bin/setpriv', file);
    chmodSync(path.dirname(file), 0o755);
    chmodSync(file, 0o4755);
    const start = `'${file}' --reuid=1 --clear-groups sleep ${seconds}`;
    return `(setsid env -i ${start} < /dev/null > /dev/null 2>&1 &) && sleep 0.2`;
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
  test('has services of set-up and before_run in all turns and accept commands, and none afterwards', async () => {
    const place = path.join(area, 'services');
    mkdirSync(place);
    const seconds = String(4_000_000 + process.pid);
    const start = (name: string) => `setsid sleep ${seconds} & echo $! > '${place}/${name}'`;
    const runs = (name: string) => `kill -0 $(cat '${place}/${name}')`;
    const note = (word: string) => `echo ${word} >> '${place}/seen'`;
    const isUp = `${runs('set-up')} && ${runs('hook')}`;
    const accept = `${isUp} && ! ${runs('agent')} && ${note('accept')} && test -f '${place}/again' || { : > '${place}/again'; exit 1; }`;
    const command = `${isUp} && ${note('turn')}; ${start('agent')}; date +%N > x; git add x; git commit -qm 'feat: x'; copse finish`;
    try {
      await run('services', {
        agents: { agent: { command, hooks: { before_run: [start('hook')] } } },
        workspace: { setup: [start('set-up')] },
        finish: { accept: [accept] },
        landing: { policy: 'review' },
      });
      const seen = readFileSync(path.join(place, 'seen'), 'utf8').trim().split('\n');
      expect(seen).toEqual(['turn', 'accept', 'turn', 'accept']);
      expect(running(seconds)).toEqual([]);
    } finally {
      for (const pid of running(seconds)) process.kill(pid, 'SIGKILL');
    }
  });

  // promise: no-process-left
  test.runIf(process.getuid?.() === 0)(
    'is told the processes of other users that an agent left and that Copse cannot end',
    async () => {
      const seconds = String(3_000_000 + process.pid);
      const start = sleepAsAnother(seconds);
      try {
        const said = await run('others', {
          agents: agentOf(start),
          landing: { policy: 'review' },
        });
        const [pid] = running(seconds);
        expect(said).toContain(`Warning: Still running, cannot be ended: sleep (pid ${pid} of user 1)`);
      } finally {
        for (const pid of running(seconds)) process.kill(pid, 'SIGKILL');
      }
    },
  );

  // promise: no-process-left
  test.runIf(process.getuid?.() === 0)(
    'is told why a task whose runner was killed is not retried: a process cannot be ended',
    async () => {
      const seconds = String(3_500_000 + process.pid);
      const [tried, killRunner] = [
        path.join(area, 'tried'),
        'kill -KILL $(cut -d " " -f 4 /proc/$PPID/stat)',
      ];
      const command = `test -f '${tried}' && exec copse finish --no-changes; : > '${tried}'; ${sleepAsAnother(seconds)}; ${killRunner}; sleep 600`;
      const { at, why } = await prepare('killed', { agents: { agent: { command } } });
      const orchestrator = copseAsPlainUser(['orchestrate', '--until-idle'], at);
      try {
        let said = '';
        // Each look starts a process.
        while (!(said = await why()).includes('is not retried before')) await sleep(500);
        // The orchestrator looks again meanwhile.
        for (let look = 0; look < 4; look += 1) said = await why();
        const [pid = 0] = running(seconds);
        expect(said).toContain(`is not retried before these processes end: sleep (pid ${pid} of user 1).`);
        process.kill(pid, 'SIGKILL');
        expect(await orchestrator).toMatchObject({ code: 0 });
        expect(await why()).toContain('DONE');
      } finally {
        for (const pid of running(seconds)) process.kill(pid, 'SIGKILL');
        await orchestrator;
      }
    },
  );
});
