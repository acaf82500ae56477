/** Processes that try to outlive their attempt: without their environment, their session and their parents. */

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import {
  groupMembers,
  openGroup,
  closeGroup,
  ownGroup,
} from '../../../packages/copse/src/processes/cgroup.ts';
import { answer, copse, git, newArea, newRepository } from '../../support/cli.ts';
import { endAgents } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

/** Those whose command line has the word. */
function running(word: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word);
      } catch {
        return false;
      }
    })
    .map(Number);
}

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

  test('a group is made below the own one, and removed', () => {
    const group = openGroup(`test-${process.pid}`);
    expect(group).toContain(`copse-test-${process.pid}`);
    expect(groupMembers(group ?? '')).toEqual([]);
    closeGroup(group ?? '');
    expect(readdirSync(ownGroup() ?? '/')).not.toContain(`copse-test-${process.pid}`);
  });
});
