/** Writes objects into the repository in the order in which they are added: a few as files, many as a pack. */

import { defaultPolicy } from '../../../kernel/policy.ts';
import type { TrustedDir } from '../../process.ts';
import { packEntry, writePack } from '../packs.ts';
import { type NewObject, PACKED_FROM, putAll } from '../put.ts';

const MOST_WAITING_BYTES = defaultPolicy.objectStores.waitingBytes;

export class ObjectWriter {
  readonly #dir: TrustedDir;
  readonly #objects: string;
  #waiting: NewObject[] = [];
  #bytes = 0;

  constructor(dir: TrustedDir, objects: string) {
    this.#dir = dir;
    this.#objects = objects;
  }

  async add(object: NewObject): Promise<void> {
    this.#waiting.push(object);
    this.#bytes += object.content.length;
    if (this.#bytes > MOST_WAITING_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    const objects = this.#waiting;
    [this.#waiting, this.#bytes] = [[], 0];
    if (objects.length < PACKED_FROM) return putAll(this.#objects, objects);
    const entries = objects.map(({ id, type, content }) => packEntry(id, type, content));
    writePack(this.#dir, this.#objects, entries, { isForGood: true });
  }
}
