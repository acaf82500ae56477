/** Making a fresh worktree ready to use: bringing files, submodules and LFS, running commands, finding ports and disk. */

import type { AgentName, CommitId, TaskId } from '../../kernel/ids.ts';

export interface FurnishRequest {
  readonly task: TaskId;
  /** The main checkout, from which files are brought; null for a bare repository. */
  readonly source: Checkout | null;
  readonly target: Checkout;
  /** The commit that is checked out in the target. */
  readonly commit: CommitId;
  /** Where `.copse/` is. */
  readonly home: string;
  readonly settings: FurnishSettings;
  /** Folders that are never brought, above all the one that holds the worktrees. */
  readonly never: readonly string[];
  /** Variables for the commands, on top of those that Copse itself was started with. */
  readonly env: Readonly<Record<string, string>>;
  /** No agent has been in the worktree yet, so its tracked files are as git wrote them. */
  readonly isFresh: boolean;
  /** Its files are those of a commit of the base: no code in it waits for a landing. */
  readonly isAsBase: boolean;
  /** The agent that will work there, or the name of a person; null if not known. */
  readonly agent?: AgentName | null;
  /** What Copse remembers of the set-up, where no agent in a sandbox can write; null for a worktree that is set up each time. */
  readonly record: string | null;
}

export interface Checkout {
  readonly folder: string;
  /** `.git` of the main checkout, or `.git/worktrees/<name>`. */
  readonly gitDir: string;
}

export interface FurnishSettings {
  readonly copy: readonly string[];
  readonly link: readonly string[];
  /** Null when `copse.yml` does not say; then the files of other tools are asked. */
  readonly setup: readonly string[] | null;
  readonly teardown: readonly string[] | null;
  readonly commandTimeoutMs: number;
}

export interface FurnishReport {
  readonly brought: readonly Brought[];
  readonly linked: readonly string[];
  readonly skipped: readonly Skipped[];
  readonly submodules: readonly SubmoduleOutcome[];
  /** Sentences for a person. */
  readonly notes: readonly string[];
  readonly setup: CommandsOutcome;
}

export interface Brought {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
}

export interface Skipped {
  readonly path: string;
  readonly why: string;
}

export type CommandsOutcome =
  | { readonly kind: 'done'; readonly ran: number }
  | {
      readonly kind: 'failed';
      readonly command: string;
      readonly because: 'exit' | 'timeout' | 'not_started';
      /** As a shell would tell it: 128 and the signal for a process that a signal ended. */
      readonly code: number | null;
      /** The last lines of what it printed. */
      readonly tail: readonly string[];
      readonly log: string;
    };

export type SubmoduleOutcome =
  | { readonly path: string; readonly kind: 'ready' }
  | { readonly path: string; readonly kind: 'not_ready'; readonly why: string };

export interface DismantleRequest extends Pick<
  FurnishRequest,
  'task' | 'source' | 'target' | 'home' | 'settings' | 'env' | 'never' | 'agent' | 'record'
> {
  /** The commit of the base branch that the worktree was made from, as the board has it; null if it had no base branch. */
  readonly base: CommitId | null;
  /** Folders of a sparse checkout; none for all. */
  readonly sparse: readonly string[];
}

export interface Furnishing {
  /** May be repeated: does the steps that are missing, and nothing once all are done. */
  furnish(request: FurnishRequest): Promise<FurnishReport>;
  /** The teardown commands, before a worktree is removed, in a checkout of its base: an agent wrote the worktree's files. */
  dismantle(request: DismantleRequest): Promise<CommandsOutcome>;
  /** The worktree is made anew or is gone: its set-up is no longer done. */
  startOver(record: string): void;
}

/** Paths are relative to the checkout; folders end in a slash. */
export interface FurnishingGit {
  /** What git ignores in a checkout and the patterns match, whole folders where possible. Later patterns win. */
  ignoredMatching(checkout: Checkout, patterns: readonly string[]): Promise<readonly string[]>;
  /** Those that git would ignore in the checkout if they were there. */
  wouldIgnore(checkout: Checkout, paths: readonly string[]): Promise<ReadonlySet<string>>;
  tracked(checkout: Checkout, paths: readonly string[]): Promise<readonly string[]>;
  /** Adds patterns to the repository's `info/exclude`. */
  exclude(patterns: readonly string[]): void;
  /** A folder of Copse's own, deleted after the work; in `parent` if given. */
  withScratch<T>(work: (scratch: string) => Promise<T>, parent?: string): Promise<T>;
  /** Writes the files of a commit into a folder that is not there yet, and an index of them into `gitDir`. */
  writeOut(commit: CommitId, target: Checkout, sparse: readonly string[]): Promise<void>;
  submodules(target: Checkout, commit: CommitId): Promise<readonly SubmoduleOutcome[]>;
  /** Turns pointers of Git LFS into files where it can. Sentences for a person where it cannot. */
  largeFiles(target: Checkout, options: { readonly isFresh: boolean }): Promise<readonly string[]>;
}

export interface PortProbe {
  /** Whether nothing on this machine listens there. */
  isFree(port: number): Promise<boolean>;
}

export interface CommandLines {
  /** Names the files in which their output is kept. */
  readonly name: string;
  readonly commands: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly logFolder: string;
  /** What each of them reads from its standard input. It is kept beside the logs. */
  readonly input?: string;
  /** For a folder that is removed afterwards: their processes are ended. */
  readonly leavesNothing?: boolean;
}

/** Runs command lines that a person wrote: set-up, teardown, acceptance, hooks around an attempt. */
export interface Commands {
  /** One after another, until one fails. */
  run(lines: CommandLines): Promise<CommandsOutcome>;
}

export interface FolderSize {
  readonly bytes: number;
  /** False when the time was up before everything was counted. */
  readonly isWhole: boolean;
}

export interface Disk {
  /** Free for this user on the file system that holds the folder, or would hold it. */
  freeBytes(folder: string): Promise<number>;
}
