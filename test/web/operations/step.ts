import type { Fields, Way } from './driver.ts';
import type { World } from './world.ts';

export interface Step {
  readonly name: string;
  /** Called right before, when what earlier steps did is known. */
  readonly fields?: () => Fields | Promise<Fields>;
  /** What a person must see in the answer. */
  readonly shows?: () => string;
  /** Asks the command line what is true on the board now. */
  readonly after?: (seen: string) => Promise<void> | void;
}

export type StepsOf = (world: World, way: Way) => readonly Step[];
