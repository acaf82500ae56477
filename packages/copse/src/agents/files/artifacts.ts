import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { Artifacts } from '../ports/runners.ts';

/** In `.copse/artifacts/<task>/`. */
export function openArtifacts(home: string): Artifacts {
  return {
    async save(task, name, content) {
      const folder = path.join(home, '.copse', 'artifacts', task);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = path.join(folder, name);
      const temporary = `${file}.${process.pid}.new`;
      await writeFile(temporary, content, { mode: 0o600 });
      await rename(temporary, file);
      return file;
    },
  };
}
