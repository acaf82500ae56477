/** What `open` gives: one access for all calls, and a board of its own for each iteration of events. */

import { defaultPolicy } from '../kernel/policy.ts';
import { loadEnd } from '../board/end.ts';
import { cursorText } from '../board/rules/term.ts';
import { KeptAccess } from '../compose/operations/kept-access.ts';
import { type Surroundings, boardMark, openContext, requireRepository } from '../compose/open.ts';
import type { Access } from '../operations/access.ts';
import { OperationFailed, failureOf } from '../operations/failure.ts';
import { perform } from '../operations/perform.ts';
import { operations } from '../operations/registry.ts';
import type { Copse, CopseEvent, EventsOptions } from './copse.ts';
import { CopseError } from './copse-error.ts';
import { eventsOf } from './events.ts';
import { methodOf } from './names.ts';
import type { Operations } from './operations.ts';

export async function openFor(surroundings: Surroundings): Promise<Copse> {
  const opened = new OpenedCopse(surroundings);
  const close = () => opened.close();
  const cursor = () =>
    opened.use((access) => access.board(async ({ board }) => cursorText((await loadEnd(board)).cursor)));
  try {
    // A folder without a board is told here, and not by the first call.
    await cursor();
  } catch (error) {
    await close();
    throw error;
  }
  const events = (options: EventsOptions = {}) => opened.events(options);
  return { ...methodsOf(opened), cursor, events, close, [Symbol.asyncDispose]: close };
}

type Method = (input?: unknown) => Promise<unknown>;

function methodsOf(opened: OpenedCopse): Operations {
  const groups: Record<string, Record<string, Method>> = {};
  for (const operation of operations) {
    const { group, method } = methodOf(operation.name);
    groups[group] ??= {};
    groups[group][method] = (input = {}) => opened.use((access) => perform(operation, access, input));
  }
  return groups as unknown as Operations;
}

class OpenedCopse {
  readonly #surroundings: Surroundings;
  readonly #access: KeptAccess;
  readonly #closed = new AbortController();
  readonly #iterations = new Set<AsyncGenerator>();

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#access = new KeptAccess(surroundings);
  }

  async use<T>(work: (access: Access) => Promise<T>): Promise<T> {
    try {
      this.#requireOpen();
      return await this.#access.use(work);
    } catch (error) {
      throw copseErrorOf(error);
    }
  }

  events(options: EventsOptions): AsyncGenerator<CopseEvent, void, undefined> {
    const iteration: AsyncGenerator<CopseEvent, void, undefined> = this.#follow(options, () =>
      this.#iterations.delete(iteration),
    );
    this.#iterations.add(iteration);
    return iteration;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    // One that waits for its next event was woken by the signal; one that the program does not read ends here.
    await Promise.all([...this.#iterations].map((one) => one.return(undefined)));
    await this.#access.close();
  }

  /** With a board of its own, so that the others need not wait for a program that reads slowly. */
  async *#follow(options: EventsOptions, onEnd: () => void): AsyncGenerator<CopseEvent, void, undefined> {
    const replaced = new AbortController();
    const signals = [this.#closed.signal, replaced.signal, ...(options.signal ? [options.signal] : [])];
    let timer: NodeJS.Timeout | undefined;
    try {
      this.#requireOpen();
      const repository = requireRepository(this.#surroundings);
      const context = await openContext(this.#surroundings);
      try {
        const mark = boardMark(repository);
        timer = setInterval(
          () => boardMark(repository) === mark || replaced.abort(),
          defaultPolicy.replacedBoard.lookEveryMs,
        ).unref();
        yield* eventsOf(context, options, AbortSignal.any(signals));
      } finally {
        clearInterval(timer);
        await context.board.close();
      }
      if (replaced.signal.aborted) throw failed('The board was removed or replaced.');
    } catch (error) {
      throw copseErrorOf(error);
    } finally {
      onEnd();
    }
  }

  #requireOpen(): void {
    if (this.#closed.signal.aborted) throw failed('This copse is closed.');
  }
}

function failed(reason: string): OperationFailed {
  return new OperationFailed({ code: 'unavailable', reason, next: ['await open({ folder })'] });
}

function copseErrorOf(cause: unknown): CopseError {
  return cause instanceof CopseError ? cause : new CopseError(failureOf(cause), { cause });
}
