/** What a tab remembers by need, also while another page is open. */

export class TabMap<V> {
  readonly #listeners = new Set<() => void>();
  #now: ReadonlyMap<string, V> = new Map();

  get now(): ReadonlyMap<string, V> {
    return this.#now;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  set(next: ReadonlyMap<string, V>): void {
    this.#now = next;
    for (const listener of this.#listeners) listener();
  }
}
