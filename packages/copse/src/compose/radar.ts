/** Where the conflict radar keeps what it found. */

import { openTouched } from '../adapters/git/radar.ts';
import type { TrustedDir } from '../adapters/git/trusted-dir.ts';
import type { Repository } from '../compose.ts';
import type { Radar } from '../ports/radar.ts';
import { openRadarMemory } from './radar-sight.ts';

export function openRadar(repository: Pick<Repository, 'home' | 'commonDir'>, dir: TrustedDir): Radar {
  return { ...openRadarMemory(repository), touched: openTouched(dir) };
}
