/** What the conflict radar asks of git besides trial merges, and where it keeps what it found. */

import type { CommitId } from '../kernel/ids.ts';
import type { RadarMemory, Sighting, TipOf, Touched } from './rules/radar.ts';

/** Derived from git and the board: whatever is lost or damaged is found out again. */
interface Kept<T> {
  /** Undefined when there is nothing, or nothing that can be read. */
  load(): T | undefined;
  save(value: T): void;
}

export interface RadarSight {
  readonly sighting: Kept<Sighting>;
  /** Without starting git. */
  readonly tipOf: TipOf;
}

export interface Radar extends RadarSight {
  readonly memory: Kept<RadarMemory>;
  /** What differs between two commits; wide when that is more than `most` paths. */
  touched(from: CommitId, to: CommitId, most: number): Promise<Touched>;
}
