/** The contexts that operations work with. Everything but the board is loaded when an operation asks for it. */

import { existsSync } from 'node:fs';

import type { Context } from '../../board/context.ts';
import type { Board } from '../../board/port.ts';
import type { EventNumber, TaskId } from '../../kernel/ids.ts';
import type { Access, CloneHere } from '../../operations/access.ts';
import type { LookContext, RunContext } from '../../queue/context.ts';
import {
  type Surroundings,
  configOf,
  findRepository,
  nodeHere,
  openContext,
  openWorkspaceContext,
  openWorkspacesAt,
  requireRepository,
  worktreeNameOf,
} from '../open.ts';
import { openSight } from '../radar-sight.ts';
import { setupOf } from './setup.ts';
import type { OpenLook } from '../look.ts';
import type { OpenRun, OpenRunOptions } from '../run/run.ts';
import type { UndoContext } from '../../queue/act/undo-landing.ts';
import type { WorkspaceContext } from '../../workspaces/act/context.ts';
import type { ListContext } from '../../workspaces/act/worktree-list.ts';
import type { SweepContext } from '../../workspaces/sweep/context.ts';

export interface AccessOptions {
  /** Rings the terminal of the caller, if it has one. */
  readonly ring?: (() => void) | undefined;
  /** Told about notices that could not be sent. */
  readonly onProblem?: (reason: string) => void;
  /** A board that is open already, and stays open. */
  readonly lent?: Board | undefined;
  /** Comes when the process that performs the operation stops. */
  readonly signal?: AbortSignal | undefined;
}

/** Closes at the end what was opened meanwhile. */
export async function withAccess<T>(
  surroundings: Surroundings,
  work: (access: Access) => Promise<T>,
  options: AccessOptions = {},
): Promise<T> {
  const access = openAccess(surroundings, options);
  try {
    return await work(access);
  } finally {
    await access.close();
  }
}

export interface OpenAccess extends Access {
  close(): Promise<void>;
}

export function openAccess(surroundings: Surroundings, options: AccessOptions = {}): OpenAccess {
  return new OwnAccess(surroundings, options);
}

class OwnAccess implements OpenAccess {
  readonly env: Access['env'];
  readonly here: CloneHere;
  readonly signal: AbortSignal | undefined;
  readonly #surroundings: Surroundings;
  readonly #lent: Board | undefined;
  readonly #options: AccessOptions;
  readonly #announcing = new Set<Promise<void>>();
  #board: Promise<Context> | undefined;
  #workspaces: Promise<WorkspaceContext> | undefined;
  #look: Promise<OpenLook> | undefined;
  #run: Promise<OpenRun> | undefined;

  constructor(surroundings: Surroundings, options: AccessOptions) {
    this.#lent = options.lent;
    this.#options = options;
    this.signal = options.signal;
    this.env = surroundings.env;
    this.here = hereOf(surroundings, options);
    this.#surroundings = surroundings;
  }

  async board<T>(work: (context: Context) => Promise<T>): Promise<T> {
    this.#board ??= openContext(this.#surroundings, undefined, { lent: this.#lent });
    return work(await this.#board);
  }

  async look<T>(work: (context: LookContext) => Promise<T>): Promise<T> {
    this.#look ??= openLooking(this.#surroundings, this.#lent);
    return work(await (await this.#look).context());
  }

  async workspaces<T>(work: (context: WorkspaceContext) => Promise<T>): Promise<T> {
    this.#workspaces ??= openWorkspaceContext(this.#surroundings, { lent: this.#lent });
    return work(await this.#workspaces);
  }

  async workspacesOf<T>(task: TaskId, work: (context: WorkspaceContext) => Promise<T>): Promise<T> {
    return this.workspaces(async (context) => {
      const root = (await context.board.get('task', task))?.repository;
      if (root === undefined || root === context.root) return work(context);
      const there = await openWorkspacesAt(this.#surroundings, root, this.#lent);
      try {
        return await work(there);
      } finally {
        await Promise.all([there.git.close(), there.board.close()]);
      }
    });
  }

  async worktreeList<T>(work: (context: ListContext) => Promise<T>): Promise<T> {
    const { withWorktreeList } = await import('../look.ts');
    return this.board((context) => withWorktreeList(this.#surroundings, work, context));
  }

  async sweep<T>(work: (context: SweepContext) => Promise<T>): Promise<T> {
    const { openSweep } = await import('../leftovers.ts');
    return this.workspaces(async (context) => work(await openSweep(this.#surroundings, context)));
  }

  async reverting<T>(work: (context: UndoContext) => Promise<T>): Promise<T> {
    const { openReverting } = await import('../on-demand.ts');
    const reverting = await openReverting(this.#surroundings);
    try {
      return await this.run((context) => work({ ...context, reverting }));
    } finally {
      await reverting.close();
    }
  }

  async run<T>(
    work: (context: RunContext) => Promise<T>,
    { command }: { readonly command?: string | undefined } = {},
  ): Promise<T> {
    const lent = this.#lent;
    if (command === undefined) {
      this.#run ??= openRunning(this.#surroundings, { lent });
      return work((await this.#run).context);
    }
    // The next call has another command.
    const open = await openRunning(this.#surroundings, { command, lent });
    try {
      return await work(open.context);
    } finally {
      await open.close();
    }
  }

  announce(after: EventNumber): void {
    const announcing = this.#announce(after);
    this.#announcing.add(announcing);
    void announcing.then(() => this.#announcing.delete(announcing));
  }

  async #announce(after: EventNumber): Promise<void> {
    const { ring, onProblem = () => {} } = this.#options;
    try {
      const { announceNow } = await import('../notices.ts');
      await this.workspaces((context) =>
        announceNow(this.#surroundings, context, { after, ring, onProblem }),
      );
    } catch (error) {
      onProblem(error instanceof Error ? error.message : String(error));
    }
  }

  /** What could not be opened was reported by its operation. */
  async close(): Promise<void> {
    await Promise.all(this.#announcing);
    const boards = opened(await Promise.allSettled([this.#board, this.#workspaces]));
    const [workspaces] = opened(await Promise.allSettled([this.#workspaces]));
    const closable = opened<OpenLook | OpenRun>(await Promise.allSettled([this.#look, this.#run]));
    await Promise.all([
      workspaces?.git.close(),
      ...boards.map(({ board }) => board.close()),
      ...closable.map((one) => one.close()),
    ]);
  }
}

function opened<T>(results: readonly PromiseSettledResult<T | undefined>[]): readonly T[] {
  return results.flatMap((one) => (one.status === 'fulfilled' && one.value !== undefined ? [one.value] : []));
}

async function openLooking(surroundings: Surroundings, lent: Board | undefined): Promise<OpenLook> {
  const { openLook } = await import('../look.ts');
  return openLook(surroundings, { lent });
}

async function openRunning(
  surroundings: Surroundings,
  options: Pick<OpenRunOptions, 'command' | 'lent'>,
): Promise<OpenRun> {
  const { openRun } = await import('../run/run.ts');
  return openRun(surroundings, options);
}

function hereOf(surroundings: Surroundings, { ring }: AccessOptions): CloneHere {
  const repository = () => requireRepository(surroundings);
  return {
    folder: () => surroundings.cwd,
    top: () => repository().top,
    node: () => nodeHere(repository()),
    config: () => configOf(repository()),
    pendingConfig: async () => {
      const { pendingConfig } = await import('../accepted.ts');
      return pendingConfig(repository());
    },
    isOrchestrated: async () => {
      const { isOrchestrated } = await import('../look.ts');
      return isOrchestrated(surroundings);
    },
    isLedHere: async (target) => {
      const { isLedAt } = await import('../board/who-runs.ts');
      return isLedAt(repository().home, target);
    },
    worktreeName: () => worktreeNameOf(repository()),
    radar: () => openSight(repository()),
    processOf: async (attempt, nodeName) => {
      const { processOf } = await import('../known-here.ts');
      return processOf(repository(), attempt, nodeName);
    },
    readArtifact: async (artifact) => {
      const { readArtifact } = await import('../on-demand.ts');
      return readArtifact(surroundings, artifact);
    },
    intake: async () => {
      const { intakeOf } = await import('../run/intake.ts');
      return intakeOf(await configOf(repository()), { isShown: true });
    },
    logs: async () => {
      const { openLogs } = await import('../on-demand.ts');
      return openLogs(surroundings);
    },
    reporting: async () => {
      const { openReporting } = await import('../open.ts');
      return openReporting(repository());
    },
    agentPrograms: async () => {
      const { detectAgents } = await import('../run/agents.ts');
      const { cwd } = surroundings;
      return detectAgents(surroundings, findRepository(cwd)?.top ?? cwd);
    },
    ...setupOf(surroundings, ring),
    checkoutAt: (folder) => {
      const found = existsSync(folder) ? findRepository(folder) : undefined;
      const isCheckout = found?.commonDir === repository().commonDir && found.top !== found.commonDir;
      return isCheckout ? found.top : undefined;
    },
    folderSize: async (folder, untilMs) => {
      const { folderSize } = await import('../known-here.ts');
      return folderSize(folder, untilMs);
    },
  };
}
