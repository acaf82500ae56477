/**
 * The access of a process that performs many operations: a server, a program that uses the library. What one operation opened
 * is kept for the next.
 *
 * It is opened anew when copse.yml was accepted anew, when the file of the board was replaced, and after something could not be
 * used. The old one is closed when its last operation ends.
 */

import type { Access } from '../../operations/access.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import { acceptedFiles } from '../../git/accepted/record.ts';
import { type Surroundings, boardMark, requireRepository } from '../open.ts';
import { type OpenAccess, openAccess } from './access.ts';

interface Kept {
  readonly access: OpenAccess;
  readonly mark: string;
  users: number;
  isOld: boolean;
}

export class KeptAccess {
  readonly #surroundings: Surroundings;
  #kept: Kept | undefined;
  /** Closing what nothing uses any more. */
  readonly #closing = new Set<Promise<void>>();
  readonly #working = new Set<Promise<unknown>>();

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  use<T>(work: (access: Access) => Promise<T>): Promise<T> {
    const working = this.#use(work);
    this.#working.add(working);
    const forget = () => void this.#working.delete(working);
    working.then(forget, forget);
    return working;
  }

  /** After the operations that are under way. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#working);
    this.#leave(this.#kept);
    await Promise.all(this.#closing);
  }

  async #use<T>(work: (access: Access) => Promise<T>): Promise<T> {
    const kept = this.#current();
    kept.users += 1;
    try {
      return await work(kept.access);
    } catch (error) {
      // A board or a program that could not be opened stays so in this access.
      if (error instanceof Unavailable) this.#leave(kept);
      throw error;
    } finally {
      kept.users -= 1;
      this.#closeIfUnused(kept);
    }
  }

  #current(): Kept {
    const mark = this.#mark();
    if (this.#kept?.mark !== mark) this.#leave(this.#kept);
    this.#kept ??= { access: openAccess(this.#surroundings), mark, users: 0, isOld: false };
    return this.#kept;
  }

  #mark(): string {
    const repository = requireRepository(this.#surroundings);
    const settings = acceptedFiles(repository).read('copse.yml');
    return JSON.stringify([boardMark(repository), settings.kind, settings.kind === 'text' && settings.text]);
  }

  #leave(kept: Kept | undefined): void {
    if (kept === undefined || kept.isOld) return;
    kept.isOld = true;
    if (this.#kept === kept) this.#kept = undefined;
    this.#closeIfUnused(kept);
  }

  #closeIfUnused({ access, users, isOld }: Kept): void {
    if (!isOld || users > 0) return;
    const closing = access.close();
    this.#closing.add(closing);
    const forget = () => void this.#closing.delete(closing);
    closing.then(forget, forget);
  }
}
