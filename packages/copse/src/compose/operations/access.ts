/** What operations of the command line work with. Everything but the board is loaded when an operation asks for it. */

import type { Context } from '../../board/context.ts';
import type { Access, CloneHere } from '../../operations/access.ts';
import type { LookContext, RunContext } from '../../queue/context.ts';
import {
  type Surroundings,
  configOf,
  nodeHere,
  openContext,
  openWorkspaceContext,
  requireRepository,
  worktreeNameOf,
} from '../open.ts';
import { openSight } from '../radar-sight.ts';
import type { OpenRun } from '../run/run.ts';
import type { WorkspaceContext } from '../../workspaces/act/context.ts';

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
  };
}
