/**
 * A workspace: where a session works, a worktree and its branch, or nothing for non-code tasks.
 *
 *   active → committed → merged → released, and kept with a reason
 *
 * Only what git and the lease cannot tell is stored (kept, released); the rest is derived from facts by
 * `workspaceStatus`, so it cannot be stale.
 */

import { type Decision, decided, refused } from '../../kernel/decision.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import type { CheckoutBefore, CheckoutLeft } from './checkout.ts';
import type { Escape } from './escape.ts';
import { type EventHead, existing, mustBeNew } from '../../kernel/evolution.ts';
import type { BranchName, CommitId, NodeId, TaskId, Timestamp, WorkspaceId } from '../../kernel/ids.ts';

type WorkspaceStrategy = 'git_worktree' | 'static' | 'none';

export type WorkspaceStatus = 'active' | 'committed' | 'merged' | 'released' | 'kept';

export const keepReasons = ['conflict', 'debugging', 'asked'] as const;
type KeepReason = (typeof keepReasons)[number];

export type Disposition =
  | { readonly is: 'in_use' }
  | { readonly is: 'kept'; readonly why: KeepReason; readonly detail: string; readonly since: Timestamp }
  | {
      readonly is: 'released';
      readonly at: Timestamp;
      readonly rescue: string | null;
      /** What a person should know about the removal: branches that stay, a failed teardown. */
      readonly notes?: readonly string[];
      /** What its session left in the main checkout. */
      readonly left?: CheckoutLeft;
    };

interface Worktree {
  readonly path: string;
  readonly branch: BranchName;
  readonly baseBranch: BranchName;
  readonly baseCommit: CommitId;
}

export interface Workspace {
  readonly id: WorkspaceId;
  readonly task: TaskId;
  readonly node: NodeId;
  readonly strategy: WorkspaceStrategy;
  /** Null for non-code tasks. */
  readonly worktree: Worktree | null;
  /** Only of the main checkout. */
  readonly checkout?: CheckoutBefore;
  readonly preparedAt: Timestamp;
  /** The main checkout of the repository that it belongs to; absent: the board's own. */
  readonly repository?: string;
  readonly disposition: Disposition;
  /** Files that the person's hooks wrote after the work was finished. They do not keep the worktree of landed work. */
  readonly byHooks?: readonly string[];
  /** The latest change of the main checkout while its session ran, without paths moved into the worktree since. */
  readonly escape?: Escape & { readonly at: Timestamp };
}

/** What git and the board say about a workspace right now. */
export interface WorkspaceFacts {
  readonly leaseIsLive: boolean;
  readonly hasUncommittedChanges: boolean;
  readonly hasCommitsOfItsOwn: boolean;
  /** The target contains commits of its own; a branch that has none is not merged but new. */
  readonly isMerged: boolean;
}

export function workspaceStatus(disposition: Disposition, facts: WorkspaceFacts): WorkspaceStatus {
  if (disposition.is === 'released') return 'released';
  if (disposition.is === 'kept') return 'kept';
  if (facts.leaseIsLive || facts.hasUncommittedChanges) return 'active';
  if (facts.isMerged) return 'merged';
  return facts.hasCommitsOfItsOwn ? 'committed' : 'active';
}

export const workspaceTransitions = {
  keep: { in_use: ['kept'], kept: ['kept'] },
  use: { kept: ['in_use'], in_use: ['in_use'] },
  release: { in_use: ['released'], kept: ['released'] },
} as const satisfies Readonly<
  Record<string, Partial<Readonly<Record<Disposition['is'], readonly Disposition['is'][]>>>>
>;

export type WorkspaceAction = keyof typeof workspaceTransitions;

type Of<T extends string> = EventHead<T, WorkspaceId>;

export type WorkspaceEvent =
  | (Of<'workspace.prepared'> &
      Pick<Workspace, 'task' | 'node' | 'strategy' | 'worktree' | 'checkout' | 'repository'>)
  | (Of<'workspace.kept'> & { readonly why: KeepReason; readonly detail: string })
  | Of<'workspace.used_again'>
  | (Of<'workspace.hooks_wrote'> & { readonly paths: readonly string[] })
  | (Of<'workspace.escaped'> & Escape)
  | (Of<'workspace.escape_moved'> & { readonly paths: readonly string[]; readonly rescue: string })
  | (Of<'workspace.released'> & {
      readonly rescue: string | null;
      readonly notes?: readonly string[];
      readonly left?: CheckoutLeft;
    });

export type WorkspaceRequest =
  | { readonly action: 'keep'; readonly why: KeepReason; readonly detail: string }
  | { readonly action: 'use' }
  | {
      readonly action: 'release';
      readonly rescue: string | null;
      readonly notes?: readonly string[];
      readonly left?: CheckoutLeft | null;
    };

export function decideWorkspace(
  workspace: Workspace,
  request: WorkspaceRequest,
  at: Timestamp,
): Decision<WorkspaceEvent> {
  const { is } = workspace.disposition;
  const from: Partial<Record<Disposition['is'], readonly string[]>> = workspaceTransitions[request.action];
  if (from[is] === undefined) {
    return refused(
      'wrong_status',
      `The workspace of ${workspace.task} is released: there is nothing left to ${request.action}.`,
      `copse work ${workspace.task}`,
    );
  }
  const of = { id: workspace.id, at };
  switch (request.action) {
    case 'keep':
      return decided({ type: 'workspace.kept', ...of, why: request.why, detail: request.detail });
    case 'use':
      return decided({ type: 'workspace.used_again', ...of });
    case 'release': {
      const { rescue, notes = [], left } = request;
      const more = { ...(notes.length > 0 && { notes }), ...(left && { left }) };
      return decided({ type: 'workspace.released', ...of, rescue, ...more });
    }
    default:
      return unreachable(request);
  }
}

export function evolveWorkspace(workspace: Workspace | undefined, event: WorkspaceEvent): Workspace {
  if (event.type === 'workspace.prepared') {
    mustBeNew(workspace, event);
    const { id, task, node, strategy, worktree, checkout, repository, at } = event;
    const place = { ...(checkout && { checkout }), ...(repository !== undefined && { repository }) };
    return { id, task, node, strategy, worktree, ...place, preparedAt: at, disposition: { is: 'in_use' } };
  }
  const before = existing(workspace, event);
  if (event.type === 'workspace.escaped') {
    const { type: _, id: __, ...escape } = event;
    return { ...before, escape };
  }
  if (event.type === 'workspace.hooks_wrote') return { ...before, byHooks: event.paths };
  if (event.type === 'workspace.escape_moved') return withoutMoved(before, event.paths);
  return { ...before, disposition: nextDisposition(event) };
}

function withoutMoved({ escape, ...workspace }: Workspace, moved: readonly string[]): Workspace {
  if (escape === undefined) return workspace;
  const paths = escape.paths.filter((path) => !moved.includes(path));
  const isOver = paths.length === 0 && escape.more === 0 && escape.head === null;
  return isOver ? workspace : { ...workspace, escape: { ...escape, paths } };
}

type DispositionEvent = Extract<
  WorkspaceEvent,
  { type: 'workspace.kept' | 'workspace.used_again' | 'workspace.released' }
>;

function nextDisposition(event: DispositionEvent): Disposition {
  switch (event.type) {
    case 'workspace.kept':
      return { is: 'kept', why: event.why, detail: event.detail, since: event.at };
    case 'workspace.used_again':
      return { is: 'in_use' };
    case 'workspace.released':
      return {
        is: 'released',
        at: event.at,
        rescue: event.rescue,
        ...(event.notes && { notes: event.notes }),
        ...(event.left && { left: event.left }),
      };
    default:
      return unreachable(event);
  }
}
