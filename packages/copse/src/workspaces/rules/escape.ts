/**
 * The main checkout changed while sessions were running, which should work in their worktrees only.
 *
 * Changes by an agent and by a person cannot be told apart, so an escape says which files changed between two looks and
 * which sessions ran meanwhile. It names a single session only if no other ran, or if only that session had a process in
 * the main checkout.
 */

import type { BranchName, CommitId, SessionId, TaskId, WorkspaceId } from '../../kernel/ids.ts';

export interface CheckoutChange {
  readonly path: string;
  /** Mode and id of the content; null for a file that is gone. */
  readonly version: string | null;
  /** What the file system says about it; while that stays, the content is not read again. */
  readonly stat: string;
}

/** The main checkout at one look: where it is, and every file that differs from that. */
export interface CheckoutState {
  /** Null before the first commit. */
  readonly head: CommitId | null;
  /** Null when HEAD is detached. */
  readonly branch: BranchName | null;
  readonly changes: readonly CheckoutChange[];
}

export interface RunningSession {
  readonly session: SessionId;
  readonly task: TaskId;
  readonly workspace: WorkspaceId | null;
  /** Its workspace is the main checkout. */
  readonly isAtHome: boolean;
  /** A process of it had the main checkout as its folder. */
  readonly wasSeenThere: boolean;
}

export interface Escape {
  /** Files that appeared, changed or went, the first of them if there are many. */
  readonly paths: readonly string[];
  readonly more: number;
  /** The checkout moved to a commit that no landing moved it to. */
  readonly head: { readonly from: CommitId | null; readonly to: CommitId | null } | null;
  readonly running: readonly SessionId[];
  /** The only session that can have caused it, if a person did not. */
  readonly session: SessionId | null;
}

export interface EscapeRules {
  readonly listedPaths: number;
  /** Commits that landings moved the checkout to. */
  readonly expectedHeads?: readonly CommitId[];
}

/** Both looks must compare with the same commit, unless the checkout moved as expected. */
export function decideEscape(
  before: CheckoutState,
  now: CheckoutState,
  sessions: readonly RunningSession[],
  { listedPaths, expectedHeads = [] }: EscapeRules,
): Escape | null {
  if (sessions.length === 0 || sessions.some(({ isAtHome }) => isAtHome)) return null;
  const known = new Map(before.changes.map(({ path, version }) => [path, version]));
  const changed = now.changes
    .filter(({ path, version }) => !known.has(path) || known.get(path) !== version)
    .map(({ path }) => path)
    .toSorted();
  const isElsewhere = now.head !== before.head && !(now.head !== null && expectedHeads.includes(now.head));
  if (changed.length === 0 && !isElsewhere) return null;
  return {
    paths: changed.slice(0, listedPaths),
    more: Math.max(0, changed.length - listedPaths),
    head: isElsewhere ? { from: before.head, to: now.head } : null,
    running: sessions.map(({ session }) => session),
    session: onlyOne(sessions)?.session ?? null,
  };
}

function onlyOne(sessions: readonly RunningSession[]): RunningSession | undefined {
  const seen = sessions.filter(({ wasSeenThere }) => wasSeenThere);
  const candidates = seen.length > 0 ? seen : sessions;
  return candidates.length === 1 ? candidates[0] : undefined;
}

/** One sentence for people. It says when, never who. */
export function describeEscape(escape: Escape, tasks: readonly TaskId[]): string {
  const count = escape.paths.length + escape.more;
  const files = count === 0 ? '' : `${count} ${count === 1 ? 'file' : 'files'} of the main checkout changed`;
  const went =
    escape.head === null
      ? ''
      : `the main checkout moved to ${escape.head.to === null ? 'no commit' : `commit ${escape.head.to.slice(0, 12)}`}`;
  const what = [files, went].filter((part) => part !== '').join(' and ');
  const who =
    tasks.length === 0 ? 'a session was' : `${tasks.join(', ')} ${tasks.length === 1 ? 'was' : 'were'}`;
  return `${what.charAt(0).toUpperCase()}${what.slice(1)} while ${who} running.`;
}
