/** What the conflict radar reads from git besides trial merges, and where it stores its results. */

import type { CommitId } from '../kernel/ids.ts';
import type { RadarMemory, Sighting, TipOf, Touched } from './rules/radar.ts';

/** Derived from git and the board: a lost or damaged file is made again. */
interface StoredFile<T> {
  /** Undefined when there is no readable file. */
  load(): T | undefined;
  save(value: T): void;
}

export interface RadarSight {
  readonly sighting: StoredFile<Sighting>;
  /** Without starting git. */
  readonly tipOf: TipOf;
}

export interface Radar extends RadarSight {
  readonly memory: StoredFile<RadarMemory>;
  /** Paths that differ between two commits; `isWide` when they are more than `most`. */
  touched(from: CommitId, to: CommitId, most: number): Promise<Touched>;
}
