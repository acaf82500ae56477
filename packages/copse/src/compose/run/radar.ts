/** Opens the conflict radar and its memory. */

import { openTouched } from '../../radar/git/radar.ts';
import type { TrustedDir } from '../../git/process.ts';
import type { Repository } from '../open.ts';
import type { Radar } from '../../radar/port.ts';
import { openRadarMemory } from '../radar-sight.ts';

export function openRadar(repository: Pick<Repository, 'home' | 'commonDir'>, dir: TrustedDir): Radar {
  return { ...openRadarMemory(repository), touched: openTouched(dir) };
}
