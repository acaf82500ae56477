import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';

import type { Disk } from '../ports/furnishing.ts';

export const disk: Disk = {
  async freeBytes(folder) {
    let place = folder;
    while (!existsSync(place)) place = path.dirname(place);
    const { bavail, bsize } = await statfs(place);
    return bavail * bsize;
  },
};
