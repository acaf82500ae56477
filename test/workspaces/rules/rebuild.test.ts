import { describe, expect, test } from 'vitest';

import {
  type BranchName,
  type CommitId,
  type TaskId,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';
import {
  type TaskTraces,
  decideRebuilt,
  rebuiltBody,
} from '../../../packages/copse/src/workspaces/rules/rebuild.ts';

const nothing: TaskTraces = {
  task: brand<TaskId>('cp-aaaa'),
  branch: null,
  worktree: null,
  landed: null,
  kept: 0,
  subject: null,
};
const tip = brand<CommitId>('1'.repeat(40));
const landed = brand<CommitId>('2'.repeat(40));
const branch = (isMerged: boolean) => ({ name: brand<BranchName>('cp-aaaa/it'), tip, isMerged });

describe('a task that the board lost', () => {
  test.each<readonly [string, Partial<TaskTraces>, string]>([
    ['has work on a branch that did not land', { branch: branch(false) }, 'in_review'],
    // An agent can write any trailer, so it does not outweigh a branch.
    ['is named by a trailer, and has more work', { branch: branch(false), landed }, 'in_review'],
    ['is named by a trailer', { landed }, 'done'],
    ['is named by a trailer, and its branch is merged', { branch: branch(true), landed }, 'done'],
    ['has a worktree without commits', { branch: branch(true), worktree: '/w' }, 'paused'],
    ['has only refs', { kept: 2 }, 'cancelled'],
  ])('%s', (_, traces, kind) => {
    expect(decideRebuilt({ ...nothing, ...traces }).kind).toBe(kind);
  });

  test('says what is known and what is not', () => {
    const body = rebuiltBody({ ...nothing, branch: branch(false), kept: 2 });
    expect(body).toContain('Known: branch cp-aaaa/it; 2 refs under refs/copse.');
    expect(body).toContain('Unknown: the title');
  });
});
