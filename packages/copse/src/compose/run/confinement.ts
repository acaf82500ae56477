/** What this machine can confine, for `copse doctor`. */

import { dockerProblem } from '../../agents/sandbox/docker.ts';
import { runtimeProblem } from '../../agents/sandbox/runtime.ts';
import { tryOnce } from '../../agents/sandbox/try-once.ts';
import { outsideOf } from '../../git/directory/work-tree.ts';
import { findProgram } from '../../kernel/system/find-program.ts';
import { ownGroup } from '../../processes/cgroup.ts';
import { type Surroundings, findRepository } from '../open.ts';
import { findSrt } from './sandbox.ts';

export interface Confinement {
  /** Why agents cannot run with `sandbox: runtime` or `docker`; null when they can. */
  readonly runtime: string | null;
  readonly docker: string | null;
  /** Whether every process of an attempt can be found, without a sandbox too. */
  readonly hasGroups: boolean;
}

export function confinementHere({ cwd, env }: Surroundings): Confinement {
  const mayTake = outsideOf(repositoryAt(cwd));
  const find = (program: string) => findProgram(program, env, mayTake);
  const tryOut = (argv: readonly [string, ...string[]]) => tryOnce(argv, env);
  return {
    runtime: runtimeProblem(findSrt(env, mayTake), find, tryOut),
    docker: dockerProblem('any', find, tryOut),
    hasGroups: ownGroup() !== undefined,
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
