/** Remembers what was asked for last, up to a weight in total. */
export class Recent<Key, Value> {
  readonly #most: number;
  readonly #weigh: (value: Value) => number;
  readonly #values = new Map<Key, Value>();
  #weight = 0;

  constructor(most: number, weigh: (value: Value) => number = () => 1) {
    this.#most = most;
    this.#weigh = weigh;
  }

  get(key: Key): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    // A map is in the order in which its keys came.
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#values.set(key, value);
    this.#weight += this.#weigh(value);
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.#most) return;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    this.#weight -= this.#weigh(value);
  }

  clear(): void {
    this.#values.clear();
    this.#weight = 0;
  }
}
