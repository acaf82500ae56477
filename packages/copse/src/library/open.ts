/** Copse for programs: every operation of the registry as a method, and the events of the board. */

import type { Copse, CopseOptions } from './copse.ts';
import { openFor } from './opened.ts';

/** Opens the board of the repository around the folder, and creates it on first use. */
export function open({ folder }: CopseOptions): Promise<Copse> {
  return openFor({ cwd: folder, env: process.env });
}
