import { readdirSync } from 'node:fs';

import { hasCode } from './error-code.ts';

/** The names in a folder; none when there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
