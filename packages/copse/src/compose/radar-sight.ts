/** Opens the last result of the conflict radar, for commands that only show it. */

import { openBranchTips } from '../git/refs/branch-tip.ts';
import { openMemory } from '../kernel/system/json-file.ts';
import type { Repository } from '../git/directory/locate.ts';
import type { Radar, RadarSight } from '../radar/port.ts';
import { memoryFile, parseMemory, parseSighting, sightingFile } from '../radar/files.ts';

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

export function openRadarMemory(
  repository: Pick<Repository, 'home' | 'commonDir'>,
): RadarSight & Pick<Radar, 'memory'> {
  const memory = openMemory<unknown>(repository.home, 'radar-memory');
  return {
    ...openSight(repository),
    memory: {
      load: () => parseMemory(memory.load()),
      save: (value) => memory.save(memoryFile(value)),
    },
  };
}
