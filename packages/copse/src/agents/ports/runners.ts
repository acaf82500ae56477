/**
 * Runners, one detached process for each attempt, and the files by which runner, agent and people exchange facts.
 *
 * A runner outlives the process that started it. It gets its orders as a file, and leaves a record of the processes that it
 * starts, so that a successor can end them.
 */

import type { ContextNames } from '../rules/briefing/briefing.ts';
import type { BeginOf } from '../rules/session/begin.ts';
import type { Report, ReportSeen } from '../rules/session/report.ts';
import type { AgentName, AttemptId, FencingToken, SessionId, TaskId } from '../../kernel/ids.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import type { Artifact } from '../../tasks/rules/ledger.ts';

/** Everything about one attempt that was decided when its task was claimed. */
export interface Orders {
  readonly task: TaskId;
  readonly session: SessionId;
  readonly attempt: AttemptId;
  readonly token: FencingToken;
  readonly agent: AgentName;
  /** The runtime's conversation to continue, or null for a new one. */
  readonly conversation: string | null;
  readonly begin: Begin;
}

/** Why the attempt begins; part of what the agent is told. */
export type Begin = BeginOf<string>;

/** A runner that ended through no fault of its agent: the task is started again, and no retry is used up. */
export interface StoppedRunner {
  /** A newer Copse migrated the board, or the board could not be reached for longer than the lease and its grace. */
  readonly because: 'outdated' | 'cut_off';
  readonly reason: string;
}

export interface Runners {
  /** Returns as soon as the process runs. The process itself records its identity on the board, a moment later. */
  start(orders: Orders): Promise<void>;
  /** The runner's process, as its starter saw it; undefined when the starter was killed before it wrote it down. */
  runnerOf(attempt: AttemptId): Promise<ProcessIdentity | undefined>;
  /** Why its runner stopped, if it could not tell the board. */
  stoppedOf(attempt: AttemptId): Promise<StoppedRunner | undefined>;
  /** The last sentence in the log of its runner; undefined when it printed none. */
  lastWordsOf(task: TaskId, attempt: AttemptId): Promise<string | undefined>;
  /** The last line that its agent printed, without control characters; null when there is none on this machine. */
  lastLineOf(task: TaskId, attempt: AttemptId): Promise<string | null>;
  /** The live processes that an attempt started, also those whose parents are gone. */
  processesOf(attempt: AttemptId): Promise<readonly ProcessIdentity[]>;
  /** From now on `processesOf` knows these too: their reaper was ended, so no chain of parents leads to them. */
  remember(attempt: AttemptId, processes: readonly ProcessIdentity[]): Promise<void>;
  /** Attempts with files on this machine: running ones, and ended ones that were not cleaned up. */
  known(): Promise<readonly AttemptId[]>;
  /** Removes the files of an attempt whose processes are gone. */
  forget(attempt: AttemptId): Promise<void>;
}

/** The report file in a worktree, which both the agent and `copse` commands write. */
export interface Reports {
  /**
   * Reports each change once, beginning with the current content and ending with a last look when it is stopped. Content
   * that cannot be parsed is reported once, as a problem; `watch` never throws.
   */
  watch(worktree: string, on: (seen: ReportSeen) => void): { stop(): void };
  /** Undefined when there is no report. */
  read(worktree: string): ReportSeen | undefined;
  /** Merges into the current report; equal fields are replaced. Throws when there is no safe place for the file. */
  write(worktree: string, report: Report): void;
  /** Removes the report of an earlier attempt. */
  clear(worktree: string): void;
}

export type ContextFile = 'context' | 'facts' | 'prompt' | 'instructions';

/** A file below a folder whose path only Copse chooses. */
export interface ContextPlace {
  readonly root: string;
  readonly file: string;
}

export interface ContextPlaces extends Readonly<Record<ContextFile, ContextPlace>> {
  /** The names under which the agent is told about them. */
  readonly names: ContextNames;
  /** One sentence for each file that is not in its usual place. */
  readonly notes: readonly string[];
}

/** The files that tell an agent what to do. Agents can prepare the folder they are written into in any way. */
export interface ContextFiles {
  /**
   * In the worktree where git ignores the file there, otherwise in the board's folder; never a file that the repository
   * tracks. Null: the task has no worktree.
   */
  choose(task: TaskId, worktree: string | null): Promise<ContextPlaces>;
  /** Replaces each file atomically and follows no link. */
  write(places: ContextPlaces, texts: Readonly<Record<ContextFile, string>>): Promise<void>;
  /** Copies a file to import into the worktree. Returns its path there. */
  place(worktree: string, name: string, content: Uint8Array): Promise<string>;
}

/** Commands of Copse that a session asks its runner to run. */
export interface SessionCommands {
  /** Runs it as the session that the variables name. Never rejects; a command that takes too long is ended. */
  run(command: SessionCommand): Promise<CommandSaid>;
}

export interface SessionCommand {
  readonly argv: readonly string[];
  /** Its standard input. */
  readonly input: string;
  /** Who asks, from the orders of the attempt and from nothing that the agent wrote. */
  readonly variables: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface CommandSaid {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A file to take over as a result. */
export type ArtifactSource =
  /** Named by a person, as an absolute path: links are followed. */
  | { readonly kind: 'any'; readonly file: string }
  /**
   * Named by an agent, which can change all of it meanwhile: below one of its folders, without links. A relative path begins in
   * `from`, or else in the first of them.
   */
  | {
      readonly kind: 'own';
      readonly folders: readonly [string, ...string[]];
      readonly from: string | null;
      readonly file: string;
    };

export interface KeptFile {
  readonly bytes: number;
  readonly sha256: string;
}

export type ArtifactTaken =
  | ({ readonly kind: 'taken'; readonly name: string } & KeptFile)
  | { readonly kind: 'refused'; readonly reason: string };

export type ArtifactRead =
  | { readonly kind: 'read'; readonly content: Uint8Array }
  /** `changed`: its content is no longer the one that was added. */
  | { readonly kind: 'missing' | 'changed' };

/**
 * Results of a task that are kept as files, so that they outlive its worktree: patches under a name, and all others under the
 * hash of their content.
 */
export interface Artifacts {
  /** Returns the file's address. The same name replaces the file. */
  save(task: TaskId, name: string, content: Uint8Array): Promise<KeptFile & { readonly address: string }>;
  /** Copies it, if it is a regular file within the limits. `room` says why there is none for so many bytes. */
  take(task: TaskId, source: ArtifactSource, room: (bytes: number) => string | undefined): ArtifactTaken;
  /** The ids under which git may have this content, with ids of so many characters. */
  blobIds(content: Uint8Array, idLength: number): readonly string[];
  /** Only content whose hash is right. */
  read(task: TaskId, artifact: Pick<Artifact, 'kind' | 'address' | 'content'>): ArtifactRead;
}

/** Free resources of this machine. */
export interface Machine {
  /** Null when the system does not report it. */
  freeMemoryBytes(): number | null;
}
