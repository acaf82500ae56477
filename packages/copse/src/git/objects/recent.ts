/**
 * Remembers what was asked for lately, up to a weight in total. In two generations: what is full becomes the older one, and what
 * nobody asks for until that happens again is forgotten. So asking changes nothing most of the time.
 */
export class Recent<Key, Value> {
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
    const before = this.#young.get(key);
    if (before !== undefined) this.#weight -= this.#weigh(before);
    this.#old.delete(key);
    this.#young.set(key, value);
    this.#weight += this.#weigh(value);
    if (this.#weight <= this.#most / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#weight = 0;
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#weight = 0;
  }
}
