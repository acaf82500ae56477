/** What operations of the command line work with. Everything but the board is loaded when an operation asks for it. */

import { existsSync } from 'node:fs';

import type { Context } from '../../board/context.ts';
import type { TaskId } from '../../kernel/ids.ts';
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
import type { OpenRun } from '../run/run.ts';
import type { UndoContext } from '../../queue/act/undo-landing.ts';
import type { WorkspaceContext } from '../../workspaces/act/context.ts';
import type { ListContext } from '../../workspaces/act/worktree-list.ts';
import type { SweepContext } from '../../workspaces/sweep/context.ts';

/** Closes at the end what was opened meanwhile. */
export async function withAccess<T>(
  surroundings: Surroundings,
  work: (access: Access) => Promise<T>,
): Promise<T> {
  const access = openAccess(surroundings);
  try {
    return await work(access);
  } finally {
    await access.close();
  }
}

export interface OpenAccess extends Access {
  close(): Promise<void>;
}

export function openAccess(surroundings: Surroundings): OpenAccess {
  return new OwnAccess(surroundings);
}

class OwnAccess implements OpenAccess {
  readonly env: Access['env'];
  readonly here: CloneHere;
  readonly #surroundings: Surroundings;
  readonly #runs = new Map<string | undefined, Promise<OpenRun>>();
  #board: Promise<Context> | undefined;
  #workspaces: Promise<WorkspaceContext> | undefined;
  #look: Promise<LookContext> | undefined;

  constructor(surroundings: Surroundings) {
    this.env = surroundings.env;
    this.here = hereOf(surroundings);
    this.#surroundings = surroundings;
  }

  async board<T>(work: (context: Context) => Promise<T>): Promise<T> {
    this.#board ??= openContext(this.#surroundings);
    return work(await this.#board);
  }

  async look<T>(work: (context: LookContext) => Promise<T>): Promise<T> {
    this.#look ??= openLooking(this.#surroundings);
    return work(await this.#look);
  }

  async workspaces<T>(work: (context: WorkspaceContext) => Promise<T>): Promise<T> {
    this.#workspaces ??= openWorkspaceContext(this.#surroundings);
    return work(await this.#workspaces);
  }

  async workspacesOf<T>(task: TaskId, work: (context: WorkspaceContext) => Promise<T>): Promise<T> {
    return this.workspaces(async (context) => {
      const root = (await context.board.get('task', task))?.repository;
      if (root === undefined || root === context.root) return work(context);
      const there = await openWorkspacesAt(this.#surroundings, root);
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
    const open = this.#runs.get(command) ?? openRunning(this.#surroundings, command);
    this.#runs.set(command, open);
    return work((await open).context);
  }

  /** What could not be opened was reported by its operation. */
  async close(): Promise<void> {
    const boards = opened(await Promise.allSettled([this.#board, this.#look, this.#workspaces]));
    const [workspaces] = opened(await Promise.allSettled([this.#workspaces]));
    const runs = opened(await Promise.allSettled(this.#runs.values()));
    await Promise.all([
      workspaces?.git.close(),
      ...boards.map(({ board }) => board.close()),
      ...runs.map((run) => run.close()),
    ]);
  }
}

function opened<T>(results: readonly PromiseSettledResult<T | undefined>[]): readonly T[] {
  return results.flatMap((one) => (one.status === 'fulfilled' && one.value !== undefined ? [one.value] : []));
}

async function openLooking(surroundings: Surroundings): Promise<LookContext> {
  const { openLook } = await import('../look.ts');
  return (await openLook(surroundings)).context;
}

async function openRunning(surroundings: Surroundings, command: string | undefined): Promise<OpenRun> {
  const { openRun } = await import('../run/run.ts');
  return openRun(surroundings, { command });
}

function hereOf(surroundings: Surroundings): CloneHere {
  const repository = () => requireRepository(surroundings);
  return {
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
