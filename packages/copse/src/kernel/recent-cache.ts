/**
 * A cache of limited weight that drops the least recently used entries, in two generations: when the young one is full it
 * becomes the old one, and the old one is dropped. A hit in the young generation, the usual case, changes nothing.
 */
export class RecentCache<Key, Value> {
  readonly #most: number;
  readonly #weigh: (value: Value) => number;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();
  #weight = 0;

  constructor(most: number, weigh: (value: Value) => number = () => 1) {
    this.#most = most;
    this.#weigh = weigh;
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#young.set(key, value);
    this.#weight += this.#weigh(value);
    if (this.#weight <= this.#most / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#weight = 0;
  }

  delete(key: Key): void {
    const young = this.#young.get(key);
    if (young !== undefined) this.#weight -= this.#weigh(young);
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#weight = 0;
  }
}
