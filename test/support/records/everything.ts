/** One event for every kind of record, so that no table is forgotten where all must be covered. */

import type { BoardEvent } from '../../../packages/copse/src/board/rules/event.ts';
import {
  type AgentName,
  type ArtifactId,
  type AttemptId,
  type BranchName,
  type CheckId,
  type CommitId,
  type DeliveryId,
  type ItemId,
  type LandingId,
  type LedgerEntryId,
  type NodeId,
  type PlanId,
  type ResourceName,
  type ScheduleId,
  type SessionId,
  type TaskId,
  type WorkspaceId,
  brand,
  fencingToken,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';

const at = timestamp(1_700_000_000_000);
const task = brand<TaskId>('cp-every');
const session = brand<SessionId>('se-every');
const node = brand<NodeId>('no-every');
const agent = brand<AgentName>('coder');
const main = brand<BranchName>('main');
const head = brand<CommitId>('ab'.repeat(20));
const token = fencingToken(1);

export const oneOfEverything: readonly BoardEvent[] = [
  { type: 'plan.added', id: brand<PlanId>('pl-every'), at, title: 'Plan', body: 'Because' },
  { type: 'node.joined', id: node, at, name: 'laptop' },
  {
    type: 'session.opened',
    id: session,
    at,
    task,
    agent,
    workItem: null,
    follows: null,
    phase: 'registered',
  },
  { type: 'session.stuck', id: session, at, reason: 'JWT or cookies?' },
  { type: 'attempt.started', id: brand<AttemptId>('at-every'), at, session, task, node, token },
  { type: 'attempt.ended', id: brand<AttemptId>('at-every'), at, reason: 'stuck', exitCode: 0 },
  {
    type: 'workspace.prepared',
    id: brand<WorkspaceId>('ws-every'),
    at,
    task,
    node,
    strategy: 'git_worktree',
    worktree: { path: '.worktrees/cp-every', branch: main, baseBranch: main, baseCommit: head },
  },
  { type: 'workspace.kept', id: brand<WorkspaceId>('ws-every'), at, why: 'conflict', detail: 'src/a.ts' },
  { type: 'landing.queued', id: brand<LandingId>('la-every'), at, task, target: main, attempt: null, head },
  {
    type: 'check.started',
    id: brand<CheckId>('ch-every'),
    at,
    target: main,
    tree: 'cd'.repeat(20),
    command: 'npm test',
    environment: 'x',
    node,
  },
  { type: 'queue.paused', id: brand<BranchName>('release/1.0'), at, what: 'land', reason: 'a release' },
  {
    type: 'ledger.added',
    id: brand<LedgerEntryId>('le-every'),
    at,
    task,
    session,
    kind: 'crash',
    text: 'gone',
  },
  {
    type: 'artifact.added',
    id: brand<ArtifactId>('ar-every'),
    at,
    task,
    kind: 'file',
    address: 'sha256:00',
    title: null,
    content: { name: 'x', bytes: 1, sha256: '00', node },
    session,
  },
  { type: 'resource.taken', id: brand<ResourceName>('port:4100'), at, holder: session, token, until: null },
  {
    type: 'schedule.set',
    id: brand<ScheduleId>('coder/nightly'),
    at,
    agent,
    name: 'nightly',
    timing: { type: 'interval', everyMs: 60_000 },
    nextAt: at,
  },
  {
    type: 'delivery.received',
    id: brand<DeliveryId>('hook/1'),
    at,
    trigger: 'hook',
    task: null,
    source: 'github',
  },
  {
    type: 'item.taken',
    id: brand<ItemId>('github:12'),
    at,
    source: 'github',
    item: '12',
    url: null,
    title: 'Add login',
    mark: 'a',
    by: null,
    author: null,
    dependsOn: [],
    task,
  },
];
