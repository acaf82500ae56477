/**
 * Everything an agent is told at the beginning of a turn, as facts. texts.ts and prompts.ts make the texts of it,
 * run/session-context.ts the JSON.
 *
 * People and other agents wrote much of it, and some may try to pass for Copse. Long texts are cut, with the number of missing
 * characters, and every text keeps them apart from Copse's own words (fence.ts).
 */

import type { BeginOf } from '../session/begin.ts';
import type {
  AgentName,
  ArtifactId,
  AttemptId,
  CommitId,
  PlanId,
  SessionId,
  TaskId,
  Timestamp,
} from '../../../kernel/ids.ts';
import type { LedgerEntry } from '../../../tasks/rules/ledger.ts';
import type { Priority } from '../../../tasks/rules/priority.ts';
import type { TaskDefinition, TaskStatus } from '../../../tasks/rules/task.ts';

/** The beginning of a text, and the number of missing characters. */
export interface Excerpt {
  readonly text: string;
  readonly omitted: number;
}

/** A part of a list, and the number of missing items. */
export interface Some<T> {
  readonly listed: readonly T[];
  readonly omitted: number;
}

export interface Briefing {
  readonly at: Timestamp;
  readonly session: SessionId;
  readonly attempt: AttemptId;
  readonly agent: AgentName;
  readonly begin: BriefedBegin;
  readonly task: BriefedTask;
  readonly plan: BriefedPlan | null;
  readonly dependencies: readonly TaskMention[];
  /** Entries of this task and of its dependencies, oldest first. */
  readonly ledger: Some<BriefedEntry>;
  /** Null for work without a worktree. */
  readonly git: GitState | null;
  readonly nearby: Some<Neighbour>;
  /** Branches that overlap or conflict with this one, according to the radar. */
  readonly collisions: Some<Collision>;
  /** Crashes since the last success, and the limit. */
  readonly crashes: { readonly count: number; readonly limit: number };
  /** The environment of the agent's processes. */
  readonly environment: Readonly<Record<string, string>>;
  /** Notes from preparing the workspace. */
  readonly notes: readonly string[];
  /** What an import brings into the repository; empty for other tasks. */
  readonly imports: readonly BriefedImport[];
  /** For work without files: the folder for those that are its result. */
  readonly resultFolder: string | null;
}

export type BriefedImport =
  /** `file`: relative to the worktree. */
  | {
      readonly kind: 'file';
      readonly id: ArtifactId;
      readonly file: string;
      readonly name: string;
      readonly bytes: number;
      readonly title: string | null;
    }
  | { readonly kind: 'uri'; readonly id: ArtifactId; readonly uri: string; readonly title: string | null };

interface BriefedTask extends Pick<TaskDefinition, 'kind' | 'areas' | 'requires' | 'workItem'> {
  readonly id: TaskId;
  readonly title: string;
  readonly body: Excerpt;
  /** Of the schedule that took the work item. */
  readonly prompt?: Excerpt;
  readonly priority: Priority;
  /** Commands that must succeed before the task is finished. */
  readonly accept: readonly string[];
  readonly isConventionRequired: boolean;
}

export type BriefedBegin = BeginOf<Excerpt>;

export interface TaskMention {
  readonly id: TaskId;
  readonly title: string;
  readonly status: TaskStatus;
}

export interface BriefedPlan {
  readonly id: PlanId;
  readonly title: string;
  readonly body: Excerpt;
  readonly tasks: Some<TaskMention>;
}

export interface BriefedEntry extends Omit<LedgerEntry, 'text'> {
  readonly text: Excerpt;
}

export interface GitState {
  readonly worktree: string;
  /** Null when HEAD is detached. */
  readonly branch: string | null;
  /** The task's branch. */
  readonly ownBranch: string;
  readonly base: { readonly branch: string; readonly commit: CommitId };
  readonly head: CommitId;
  /** An unfinished merge, rebase or the like. */
  readonly operation: string | null;
  /** Commits since the base, newest first. */
  readonly commits: Some<{ readonly id: CommitId; readonly subject: string }>;
  readonly changed: Some<string>;
  readonly untracked: Some<string>;
  /** Rescues of earlier attempts, newest first. */
  readonly rescues: Some<{ readonly ref: string; readonly at: Timestamp; readonly changed: number }>;
}

/** Another running or landing task. */
export interface Neighbour extends TaskMention {
  readonly agent: AgentName | null;
  readonly areas: readonly string[];
  /** One area of each side that overlap, or null. */
  readonly meets: readonly [mine: string, theirs: string] | null;
}

/** Another branch that changes the same files: `conflict` where git cannot merge the two. */
export interface Collision extends TaskMention {
  readonly how: 'conflict' | 'overlap';
  readonly files: Some<string>;
}

/** The paths of the agent's context files: relative to its worktree for files inside, otherwise absolute. */
export interface ContextNames {
  readonly context: string;
  readonly facts: string;
  readonly prompt: string;
  readonly instructions: string;
  /** Null for work without a worktree. */
  readonly report: string | null;
}

export function excerpt(text: string, length: number): Excerpt {
  if (text.length <= length) return { text, omitted: 0 };
  const isHalf = isHighSurrogate(text.charCodeAt(length - 1));
  const kept = text.slice(0, isHalf ? length - 1 : length);
  return { text: kept, omitted: text.length - kept.length };
}

export function someOf<T>(all: readonly T[], count: number): Some<T> {
  return { listed: all.slice(0, count), omitted: Math.max(0, all.length - count) };
}

/** For lists whose end matters most. */
export function lastOf<T>(all: readonly T[], count: number): Some<T> {
  const omitted = Math.max(0, all.length - count);
  return { listed: all.slice(omitted), omitted };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
