/** Numbers of copse.yml, and the decisions that they change: from the text of the file to the rule that asks for the number. */

import { expect, test } from 'vitest';

import { policyFrom } from '../../packages/copse/src/config/effective.ts';
import { parseConfig } from '../../packages/copse/src/config/parse.ts';
import { decideNotices, nothingTold, withOccasion } from '../../packages/copse/src/explain/rules/notice.ts';
import { brand, fencingToken, timestamp } from '../../packages/copse/src/kernel/ids.ts';
import type { AgentName, AttemptId, NodeId, SessionId, TaskId } from '../../packages/copse/src/kernel/ids.ts';
import { type Policy, defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';
import { decideClaim } from '../../packages/copse/src/tasks/rules/claim.ts';
import { evolveTask } from '../../packages/copse/src/tasks/rules/events.ts';
import { decideCrash, decideHandback } from '../../packages/copse/src/tasks/rules/outcomes.ts';
import type { Task, TaskState } from '../../packages/copse/src/tasks/rules/task.ts';
import { type RemovalFacts, decideRemoval } from '../../packages/copse/src/workspaces/rules/removal.ts';
import { definition } from '../support/records/world.ts';

const at = timestamp(1_000_000);
const token = fencingToken(4);
const claimant = {
  session: brand<SessionId>('se-1'),
  attempt: brand<AttemptId>('at-1'),
  node: brand<NodeId>('no-1'),
  agent: brand<AgentName>('coder'),
};
const id = brand<TaskId>('cp-0001');
const running: TaskState = { status: 'in_progress', since: at, claim: { ...claimant, token } };

function policyOf(text: string): Policy {
  const result = parseConfig(text, { file: 'copse.yml' });
  if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems));
  return policyFrom(result.config);
}

function taskWith(changed: Partial<Task>): Task {
  const made = evolveTask(undefined, { type: 'task.created', id, at, definition, status: 'ready' });
  if (made === undefined) throw new Error('It was not made');
  return { ...made, ...changed };
}

// setting: policy.max_retries, policy.first_backoff, policy.max_backoff
test('a crash is retried after the delays of copse.yml, as often as it says', () => {
  const { retry } = policyOf('policy: { max_retries: 5, first_backoff: 2s, max_backoff: 7s }');
  const delays = [0, 1, 2, 3, 4].map((retries) => {
    const crashed = decideCrash(taskWith({ state: running, token, retries }), token, 'gone', at, retry);
    const [event] = crashed.kind === 'decided' ? crashed.events : [];
    return event?.type === 'task.crashed' && event.delay && event.delay.until - at;
  });
  expect(delays).toEqual([2_000, 4_000, 7_000, 7_000, null]);
});

// setting: policy.handbacks.conflict, policy.handbacks.unfit, policy.handbacks.no_artifact
// setting: policy.handbacks.not_imported, policy.handbacks.dirty, policy.handbacks.nothing_committed
// setting: policy.handbacks.branch, policy.handbacks.commit_message, policy.handbacks.accept, policy.handbacks.checks
test.each(Object.keys(defaultPolicy.handback) as (keyof Policy['handback'])[])(
  'work is handed back because of %s as often as copse.yml says, and then a person is asked',
  (because) => {
    const policy = policyOf(`policy: { handbacks: { ${because}: 4 } }`);
    const outcomes = [3, 4].map((used) => {
      const task = taskWith({ state: running, token, handbacks: { [because]: used } });
      const decided = decideHandback(task, { kind: 'gate', token }, { because, reason: 'x' }, at, policy);
      return decided.kind === 'decided' ? decided.events[0]?.type : decided.kind;
    });
    expect(outcomes).toEqual(['task.handed_back', 'task.needs_attention']);
  },
);

// setting: policy.lease
test('a claim is held for the lease of copse.yml', () => {
  const { lease } = policyOf('policy: { lease: 47s }');
  expect(decideClaim(taskWith({}), claimant, at, lease)).toMatchObject({
    events: [{ leaseUntil: at + 47_000 }],
  });
});

// setting: maintenance.worktree_cleanup.max_abandoned_age
test('a sweep releases the worktree of a task in progress when its lease ended so long ago', () => {
  const policy = policyOf('maintenance: { worktree_cleanup: { max_abandoned_age: 2m } }');
  const decide = (forMs: number) => {
    const facts: RemovalFacts = {
      task: id,
      path: '/work/cp-0001',
      isManaged: true,
      inside: [],
      unreadable: [],
      tmux: [],
      lease: { kind: 'expired', forMs },
      locks: [],
      operation: null,
      disposition: { is: 'in_use' },
      status: 'in_progress',
      uncommitted: 0,
      unmerged: 0,
      branch: 'unmerged',
    };
    return decideRemoval(facts, { by: 'sweep', pruneUnmergedBranches: false }, policy).kind;
  };
  expect([decide(119_999), decide(120_000)]).toEqual(['refused', 'allowed']);
});

// setting: notifications.repeat_interval
test('a notification of the same kind about the same task is sent again after the time of copse.yml', () => {
  const { notifications } = policyOf('notifications: { repeat_interval: 7s }');
  const occasion = { kind: 'stuck', task: id, title: 'One', reason: 'x', command: 'y', at } as const;
  const first = decideNotices(withOccasion(nothingTold, occasion), 0, notifications);
  const again = withOccasion(first.state, occasion);
  const sent = [6_999, 7_000].map((nowMs) => decideNotices(again, nowMs, notifications).notices.length);
  expect(sent).toEqual([0, 1]);
});
