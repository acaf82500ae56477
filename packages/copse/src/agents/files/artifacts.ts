import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import type { Artifacts } from '../ports/runners.ts';
import { writeAtomically } from '../../kernel/system/write-atomically.ts';

/** In `.copse/artifacts/<task>/`. */
export function openArtifacts(home: string): Artifacts {
  return {
    async save(task, name, content) {
      const folder = path.join(home, '.copse', 'artifacts', task);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = path.join(folder, name);
      writeAtomically(file, content);
      return file;
    },
  };
}
