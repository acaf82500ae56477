/** What the conflict radar last found, for commands that only show it. */

import { openBranchTips } from '../adapters/git/branch-tip.ts';
import { openMemory } from '../adapters/workspace/memory.ts';
import type { Repository } from '../adapters/git/locate.ts';
import type { Radar, RadarSight } from '../ports/radar.ts';
import { memoryFile, parseMemory, parseSighting, sightingFile } from '../protocol/radar-files.ts';

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
