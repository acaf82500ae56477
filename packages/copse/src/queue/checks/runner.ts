/** The adapters and settings that a run of checks needs. */

import type { CheckPlaces } from '../ports/checks.ts';
import type { Checkout, FurnishSettings, Furnishing } from '../../workspaces/ports/furnishing.ts';
import type { Git } from '../../git/port.ts';
import type { Sandbox, Steps } from '../../processes/ports/programs.ts';

export interface CheckSetup {
  /** From copse.yml, or from a file of another tool. */
  readonly commands: readonly string[];
  /** The variables that these commands expect. */
  readonly environment: (worktree: string) => Readonly<Record<string, string>>;
  /** Patterns of files to copy that copse.yml does not name. */
  readonly included: readonly string[];
}

export interface CheckRunner {
  /** The folder that holds `.copse/`. */
  readonly home: string;
  /** The main checkout, from which files are copied; null for a bare repository. */
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
  /** This process's own variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Opens the sandbox in which everything of a run is started; null for none. */
  readonly sandbox: ((run: string) => Promise<Sandbox>) | null;
  readonly freeBytes: (folder: string) => Promise<number>;
  readonly tailLines: number;
  /** The time between asking a process to end and killing it. */
  readonly graceMs: number;
}
