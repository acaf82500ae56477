/** Opens the conflict radar and its memory. */

import { openTouched } from '../../radar/git/radar.ts';
import type { TrustedDir } from '../../git/directory/trusted-dir.ts';
import { openMemory } from '../../kernel/system/json-file.ts';
import type { Repository } from '../open.ts';
import type { Radar } from '../../radar/port.ts';
import { memoryFile, parseMemory } from '../../radar/files.ts';
import { openSight } from '../radar-sight.ts';

export function openRadar(repository: Pick<Repository, 'home' | 'commonDir'>, dir: TrustedDir): Radar {
  const memory = openMemory<unknown>(repository.home, 'radar-memory');
  return {
    ...openSight(repository),
    memory: {
      load: () => parseMemory(memory.load()),
      save: (value) => memory.save(memoryFile(value)),
    },
    touched: openTouched(dir),
  };
}
