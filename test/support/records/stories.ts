/** A board with a task in every state, with fixed ids and ages in whole minutes, for pictures of what commands print. */

import path from 'node:path';

import { openBoard } from '../../../packages/copse/src/board/open.ts';
import type { BoardEvent } from '../../../packages/copse/src/board/rules/event.ts';
import {
  type AgentName,
  type AttemptId,
  type BranchName,
  type CommitId,
  type LandingId,
  type NodeId,
  type PlanId,
  type SessionId,
  type TaskId,
  type Timestamp,
  type WorkspaceId,
  brand,
  fencingToken,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import type { TaskDefinition } from '../../../packages/copse/src/tasks/rules/task.ts';
import { definition as plain } from './world.ts';

const commit = brand<CommitId>('1f2e3d4c5b'.repeat(4));
const main = brand<BranchName>('main');
const token = fencingToken(1);
const MINUTE = 60_000;

export interface Story {
  readonly id: string;
  readonly title: string;
  readonly agent?: string;
  /** How long ago it came into its state. */
  readonly minutes: number;
  readonly definition?: Partial<TaskDefinition>;
  readonly end?: (of: StoryOf) => readonly BoardEvent[];
}

interface StoryOf {
  readonly id: TaskId;
  readonly session: SessionId;
  readonly attempt: AttemptId;
  readonly at: Timestamp;
}

/** Writes them to the board of a repository. */
export async function tell(
  repository: string,
  stories: readonly Story[],
  { node = 'n-elsewhere', plan }: { readonly node?: string; readonly plan?: string } = {},
): Promise<void> {
  const now = Date.now();
  const events = stories.flatMap((story) => eventsOf(story, now, brand<NodeId>(node)));
  const plans: readonly BoardEvent[] = plan
    ? [{ type: 'plan.added', id: brand<PlanId>(plan), at: timestamp(now), title: 'Log in', body: 'Why' }]
    : [];
  const address = { engine: 'sqlite', file: path.join(repository, '.copse', 'board.db') } as const;
  const board = await openBoard(address, defaultPolicy, { id: 'unused', at: 0 });
  await board.transact((change) => change.record({ kind: 'person', name: null }, [...plans, ...events]));
  await board.close();
}

export function eventsOf(story: Story, now: number, node: NodeId): readonly BoardEvent[] {
  const { minutes, end } = story;
  const of: StoryOf = {
    id: brand<TaskId>(`cp-${story.id}`),
    session: brand<SessionId>(`se-${story.id}`),
    attempt: brand<AttemptId>(`at-${story.id}`),
    at: timestamp(now - minutes * MINUTE - 1_000),
  };
  const { id, session, attempt, at } = of;
  const began = timestamp(at - 10 * MINUTE);
  const agent = brand<AgentName>(story.agent ?? 'claude');
  const definition: TaskDefinition = { ...plain, title: story.title, ...story.definition };
  const status = definition.dependsOn.length > 0 ? 'pending' : 'ready';
  const created: BoardEvent = { type: 'task.created', id, at: end ? began : at, definition, status };
  if (end === undefined) return [created];
  const claim = { session, attempt, node, agent, token };
  return [
    created,
    { type: 'task.claimed', id, at: end(of).length === 0 ? at : began, claim, leaseUntil: at },
    {
      type: 'session.opened',
      id: session,
      at: began,
      task: id,
      agent,
      workItem: null,
      follows: null,
      phase: 'working',
    },
    { type: 'attempt.started', id: attempt, at: began, session, task: id, node, token },
    {
      type: 'workspace.prepared',
      id: brand<WorkspaceId>(`ws-${story.id}`),
      at: began,
      task: id,
      node,
      strategy: 'git_worktree',
      worktree: {
        path: `/w/${id}`,
        branch: brand<BranchName>(`copse/${id}`),
        baseBranch: main,
        baseCommit: commit,
      },
    },
    ...end(of),
  ];
}

const ended = ({ attempt, at }: StoryOf, reason: 'completed' | 'stuck' | 'crashed'): BoardEvent => ({
  type: 'attempt.ended',
  id: attempt,
  at,
  reason,
  exitCode: reason === 'crashed' ? 1 : 0,
});

const completed = (of: StoryOf, summary?: string): readonly BoardEvent[] => [
  { type: 'session.completed', id: of.session, at: of.at, ...(summary && { summary }) },
  ended(of, 'completed'),
];

/** How a story ends. */
export const ends = {
  running: () => [],
  asking: ({ session, at }: StoryOf) => [
    {
      type: 'session.asked',
      id: session,
      at,
      question: {
        id: 'q1',
        tool: 'Bash',
        what: 'rm -rf build\nrm -rf dist',
      },
    },
  ],
  idle: ({ session, at }: StoryOf) => [
    { type: 'session.attention', id: session, at, attention: 'idle', message: 'Which port?\nOr any?' },
  ],
  stuck: (of: StoryOf) => {
    const reason =
      'Should the old table be deleted, or kept beside the new one until every caller has moved to it?\n1. delete\n2. keep';
    return [
      { type: 'session.stuck', id: of.session, at: of.at, reason },
      ended(of, 'stuck'),
      { type: 'task.stuck', id: of.id, at: of.at, reason },
    ];
  },
  review: (of: StoryOf) => [
    ...completed(of, 'Refuse empty tokens\nand say why'),
    { type: 'task.sent_to_review', id: of.id, at: of.at, head: commit, pullRequest: null },
  ],
  attention: (of: StoryOf) => [
    ...completed(of),
    {
      type: 'task.needs_attention',
      id: of.id,
      at: of.at,
      because: 'conflict',
      reason:
        'It conflicts with main in src/a.ts:\n  <<<<<<< ours\n  one\n  =======\n  other\n  >>>>>>> theirs',
    },
  ],
  queued: (of: StoryOf) => {
    const landing = brand<LandingId>(`la-${of.id}`);
    const { attempt, at } = of;
    return [
      ...completed(of, 'Done as asked'),
      { type: 'landing.queued', id: landing, at, task: of.id, target: main, attempt, head: commit },
      { type: 'task.queued', id: of.id, at, landing },
    ];
  },
  failed: (of: StoryOf) => [
    ended(of, 'crashed'),
    { type: 'session.interrupted', id: of.session, at: of.at, because: 'crashed' },
    { type: 'task.crashed', id: of.id, at: of.at, reason: 'exit code 1', retries: 3, delay: null },
  ],
  landed: (of: StoryOf) => {
    const landing = brand<LandingId>(`la-${of.id}`);
    const usage = { input: 1_000, cached: 100, output: 100, dollars: 0.12 };
    return [
      { type: 'session.used', id: of.session, at: of.at, usage },
      ...completed(of, 'Done as asked'),
      {
        type: 'landing.queued',
        id: landing,
        at: of.at,
        task: of.id,
        target: main,
        attempt: of.attempt,
        head: commit,
      },
      { type: 'task.queued', id: of.id, at: of.at, landing },
      { type: 'landing.merging', id: landing, at: of.at },
      { type: 'landing.landed', id: landing, at: of.at, commit },
      { type: 'task.done', id: of.id, at: of.at, how: 'landed', commit },
    ];
  },
  cancelled: (of: StoryOf) => [
    { type: 'session.cancelled', id: of.session, at: of.at },
    ended(of, 'stuck'),
    { type: 'task.cancelled', id: of.id, at: of.at, reason: 'Not needed' },
  ],
} as const satisfies Readonly<Record<string, (of: StoryOf) => readonly BoardEvent[]>>;

export const oneOfEach: readonly Story[] = [
  { id: 'aaaa', title: 'Add a log-in page', minutes: 15, end: ends.running },
  { id: 'bbbb', title: 'Clean the build folders', minutes: 4, end: ends.asking, agent: 'codex' },
  { id: 'cccc', title: 'Serve the pages', minutes: 6, end: ends.idle },
  { id: 'dddd', title: 'Move all callers to the new table', minutes: 120, end: ends.stuck },
  { id: 'eeee', title: 'Refuse tokens without an owner', minutes: 3, end: ends.review },
  {
    id: 'ffff',
    title: 'Rename the loader of the configuration in all places where it is named',
    minutes: 30,
    end: ends.attention,
    definition: { priority: 5 },
  },
  { id: 'gggg', title: 'Write the changelog', minutes: 60, end: ends.failed },
  { id: 'hhhh', title: 'Translate', minutes: 2 },
  {
    id: 'jjjj',
    title: 'Publish',
    minutes: 1,
    definition: { dependsOn: [brand<TaskId>('cp-hhhh'), brand<TaskId>('cp-gggg')] },
  },
  { id: 'kkkk', title: 'Choose a licence', minutes: 2_880, end: ends.landed },
  { id: 'mmmm', title: 'Support old browsers', minutes: 1_440, end: ends.cancelled },
];
