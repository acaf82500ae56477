/** What running checks needs. */

import type { CheckPlaces } from '../ports/checks.ts';
import type { Checkout, FurnishSettings, Furnishing } from '../../workspaces/ports/furnishing.ts';
import type { Git } from '../../git/port.ts';
import type { Steps } from '../../processes/ports/steps.ts';

export interface CheckSetup {
  /** Whoever says so: copse.yml, or a file of another tool. */
  readonly commands: readonly string[];
  /** What these commands expect in their environment. */
  readonly environment: (worktree: string) => Readonly<Record<string, string>>;
  /** Patterns of files that are brought although copse.yml does not name them. */
  readonly included: readonly string[];
}

export interface CheckRunner {
  /** Where `.copse/` is. */
  readonly home: string;
  /** The main checkout, from which files are brought; null for a bare repository. */
  readonly source: Checkout | null;
  readonly root: string;
  /** The folder of all worktrees. */
  readonly worktreeFolder: string;
  readonly settings: Pick<FurnishSettings, 'copy' | 'link' | 'commandTimeoutMs'> & {
    readonly sparse: readonly string[];
  };
  readonly setup: CheckSetup;
  readonly steps: Steps;
  readonly places: CheckPlaces;
  readonly furnishing: Pick<Furnishing, 'furnish'>;
  readonly tryLock: Git['tryLock'];
  /** What this process was started with. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly freeBytes: (folder: string) => Promise<number>;
  readonly tailLines: number;
  /** How long processes have to end by themselves. */
  readonly graceMs: number;
}
