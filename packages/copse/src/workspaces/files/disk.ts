import { existsSync, statfsSync } from 'node:fs';
import path from 'node:path';

import type { Disk } from '../ports/furnishing.ts';

export const disk: Disk = {
  async freeBytes(folder) {
    let place = folder;
    while (!existsSync(place)) place = path.dirname(place);
    const { bavail, bsize } = statfsSync(place);
    return bavail * bsize;
  },
};
