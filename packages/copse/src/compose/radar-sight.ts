/** Opens the last result of the conflict radar, for commands that only show it. */

import { openBranchTips } from '../git/refs/branch-tip.ts';
import { openMemory } from '../kernel/system/json-file.ts';
import type { Repository } from '../git/directory/locate.ts';
import type { RadarSight } from '../radar/port.ts';
import { parseSighting, sightingFile } from '../radar/files.ts';

export function openSight({ home, commonDir }: Pick<Repository, 'home' | 'commonDir'>): RadarSight {
  const sighting = openMemory<unknown>(home, 'radar');
  return {
    sighting: {
      load: () => parseSighting(sighting.load()),
      save: (value) => sighting.save(sightingFile(value)),
    },
    tipOf: openBranchTips(commonDir),
  };
}
