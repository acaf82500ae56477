/**
 * The ways in which an operation reaches the board and the repository. A context is opened when it is first asked for. The
 * command line closes all of them when the command ends; a server keeps them open.
 */

import type { AttemptLogs } from '../agents/ports/logs.ts';
import type { ArtifactRead, Artifacts, Reports } from '../agents/ports/runners.ts';
import type { RuntimeName } from '../agents/rules/runtimes.ts';
import type { Context } from '../board/context.ts';
import type { Config } from '../config/schema.ts';
import type { Intake } from '../intake/ports/intake.ts';
import type { EventNumber, NodeId, TaskId } from '../kernel/ids.ts';
import { type LookContext, type RunContext, contextOf } from '../queue/context.ts';
import type { RadarSight } from '../radar/port.ts';
import type { Attempt } from '../tasks/rules/attempt.ts';
import type { Artifact } from '../tasks/rules/ledger.ts';
import type { UndoContext } from '../queue/act/undo-landing.ts';
import type { WorkspaceContext } from '../workspaces/act/context.ts';
import type { ListContext } from '../workspaces/act/worktree-list.ts';
import type { FolderSize } from '../workspaces/ports/furnishing.ts';
import type { SweepContext } from '../workspaces/sweep/context.ts';
import { fail } from './failure.ts';
import { requireTaskId } from './find.ts';

export interface Access {
  /** Who acts, and the session that acts, come from it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly here: CloneHere;
  /** Comes when a server stops that performs the operation. */
  readonly signal?: AbortSignal | undefined;
  board<T>(work: (context: Context) => Promise<T>): Promise<T>;
  /** For what only shows who works and what waits. */
  look<T>(work: (context: LookContext) => Promise<T>): Promise<T>;
  /** For worktrees and what is in them. */
  workspaces<T>(work: (context: WorkspaceContext) => Promise<T>): Promise<T>;
  /** The same in the repository that the task is in. */
  workspacesOf<T>(task: TaskId, work: (context: WorkspaceContext) => Promise<T>): Promise<T>;
  /** Less than `workspaces`, so that it opens sooner. */
  worktreeList<T>(work: (context: ListContext) => Promise<T>): Promise<T>;
  sweep<T>(work: (context: SweepContext) => Promise<T>): Promise<T>;
  /** To undo a landing. */
  reverting<T>(work: (context: UndoContext) => Promise<T>): Promise<T>;
  /** For what starts, ends or lands work. `command`: a shell command to use as the agent. */
  run<T>(
    work: (context: RunContext) => Promise<T>,
    options?: { readonly command?: string | undefined },
  ): Promise<T>;
  /** Notifies people of what was recorded after this event, unless another process of this machine does. Nothing waits for it. */
  announce(after: EventNumber): void;
}

/** The clone that the caller is in. */
export interface CloneHere {
  /** The folder that the caller is in. */
  folder(): string;
  /** The top folder of the worktree around the caller. */
  top(): string;
  node(): NodeId;
  /** By its accepted copse.yml. */
  config(): Promise<Config>;
  /** Its copse.yml, if that changed and no person has accepted the change yet. */
  pendingConfig(): Promise<Config | undefined>;
  /** Whether an orchestrator runs for it on this machine. */
  isOrchestrated(): Promise<boolean>;
  /** As git calls the worktree around the caller; not each is one of a task. */
  worktreeName(): string | undefined;
  /** The last result of the conflict radar. */
  radar(): RadarSight;
  processOf(attempt: Attempt, nodeName: string | null): Promise<AttemptProcess>;
  readArtifact(artifact: Artifact): Promise<ArtifactRead>;
  /** The schedules and triggers of its copse.yml. */
  intake(): Promise<Intake>;
  logs(): Promise<AttemptLogs>;
  /** The report files of agents, and the files that tasks leave as results. */
  reporting(): Promise<{ readonly reports: Reports; readonly artifacts: Artifacts }>;
  /** Of all that Copse knows, installed or not. */
  agentPrograms(): Promise<readonly InstalledProgram[]>;
  /** Its copse.yml in the main checkout, as a person accepted it, or in the worktree around the caller. */
  configFile(which: 'present' | 'accepted' | 'around'): ConfigFile;
  /** Mistakes in schedules and sources that the schema of copse.yml cannot see. */
  intakeProblems(config: Config): Promise<readonly string[]>;
  pendingSettings(): Promise<PendingSettings>;
  /** Trusts the addresses that the remotes have now. */
  acceptRemotes(): Promise<readonly { readonly name: string; readonly url: string }[]>;
  /** Sends one notice through every channel. */
  testNotices(): Promise<readonly TriedChannel[]>;
  /** Also where there is no repository. */
  health(): Promise<readonly HealthCheck[]>;
  /** The top of the checkout around a folder; undefined outside of the checkouts of this repository. */
  checkoutAt(folder: string): string | undefined;
  /** Until `performance.now()` is this. */
  folderSize(folder: string, untilMs: number): Promise<FolderSize>;
}

export interface InstalledProgram {
  readonly runtime: RuntimeName;
  /** Null: it is not installed. */
  readonly place: string | null;
  readonly version: string | null;
  /** Why it does not start. */
  readonly problem: string | null;
  readonly install: string;
}

type ConfigFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  /** Something is there that Copse does not read. */
  | { readonly kind: 'unclear' };

/** Changes of files that decide what Copse runs, which no person has accepted yet. */
export interface PendingSettings {
  readonly changes: readonly {
    readonly name: string;
    readonly decides: string;
    readonly before: string | null;
    readonly now: string | null;
    /** Why it cannot be accepted as it is. */
    readonly problem: string | null;
  }[];
  /** No person has accepted anything here yet. */
  readonly isFirst: boolean;
  /** There is a file that decides what Copse runs. */
  readonly hasFiles: boolean;
  /** Another one for other contents. */
  readonly version: string;
  /** Accepts exactly these contents. */
  accept(): Promise<void>;
}

export interface TriedChannel {
  readonly channel: string;
  /** `absent`: configured, and not on this machine. */
  readonly result: 'sent' | 'failed' | 'absent';
  readonly why: string | null;
}

export interface HealthCheck {
  readonly name: string;
  /** `missing`: it is not there, which is a fault only for agents that need it. */
  readonly state: 'fine' | 'missing' | 'problem';
  readonly found: string;
  readonly remedy: string | null;
}

export interface AttemptProcess {
  readonly node: NodeId;
  /** Null while there is only one node. */
  readonly nodeName: string | null;
  readonly isHere: boolean;
  /** Null until its runner has told it. */
  readonly pid: number | null;
  /** Null on another machine. */
  readonly isAlive: boolean | null;
}

interface RunAbout {
  readonly access: Access;
  readonly task: string;
  readonly command?: string | undefined;
  /** `contextToStop` for operations that stop the work on it. */
  readonly placeOf?: typeof contextOf;
}

/** What works on the named task, in its repository. */
export async function runOf<T>(
  { access, task, command, placeOf = contextOf }: RunAbout,
  work: (context: RunContext, id: TaskId) => Promise<T>,
): Promise<T> {
  return access.run(
    async (context) => {
      const id = await requireTaskId(context.board, task);
      return work(await placeOf(context, await context.board.get('task', id)), id);
    },
    { command },
  );
}

/** What works on these tasks; they have to be in one repository. */
export async function contextOfAll(
  context: RunContext,
  ids: readonly TaskId[],
  placeOf = contextOf,
): Promise<RunContext> {
  const places = new Set<RunContext>();
  for (const id of ids) places.add(await placeOf(context, await context.board.get('task', id)));
  const [only = context, ...others] = places;
  if (others.length > 0)
    fail('invalid', 'These tasks are in several repositories.', 'Run the command for each repository.');
  return only;
}
