/** What this machine can confine, for `copse doctor`. */

import { dockerProblem } from '../../agents/sandbox/docker.ts';
import { runtimeProblem } from '../../agents/sandbox/runtime.ts';
import { tryOnce } from '../../agents/sandbox/try-once.ts';
import { outsideOf } from '../../git/directory/work-tree.ts';
import { findProgram } from '../../kernel/system/find-program.ts';
import { ownGroup } from '../../processes/cgroup.ts';
import { reaperHere } from '../../processes/start/reaper.ts';
import { type Surroundings, findRepository } from '../open.ts';
import { findSrt } from './sandbox.ts';

export interface Confinement {
  /** Why agents cannot run with `sandbox: runtime` or `docker`; null when they can. */
  readonly runtime: string | null;
  readonly docker: string | null;
  /** By which every process of an attempt is found and ended, without a sandbox too. */
  readonly hasGroups: boolean;
  readonly reaper: 'perl' | 'python3' | null;
}

export async function confinementHere({ cwd, env }: Surroundings): Promise<Confinement> {
  const mayTake = outsideOf(repositoryAt(cwd));
  const find = (program: string) => findProgram(program, env, mayTake);
  const tryOut = (argv: readonly [string, ...string[]]) => tryOnce(argv, env);
  return {
    runtime: await runtimeProblem(findSrt(env, mayTake), find, tryOut),
    docker: await dockerProblem(find, tryOut),
    hasGroups: ownGroup() !== undefined,
    reaper: reaperHere()?.kind ?? null,
  };
}

/** A broken repository is told elsewhere. */
function repositoryAt(cwd: string) {
  try {
    return findRepository(cwd);
  } catch {
    return undefined;
  }
}
