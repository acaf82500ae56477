/**
 * The sessions whose output pages have open. Each has one source, however many pages show it; it is closed a moment after the
 * last of them. Nothing is read of any other session.
 */

import type { WebSocket } from 'ws';

import type { AttemptLogs } from '../../agents/ports/logs.ts';
import { refuseTyping } from '../../agents/rules/session/typing.ts';
import type { Board } from '../../board/port.ts';
import type { BoardEvent } from '../../board/rules/event.ts';
import type { AttemptId, NodeId, SessionId, TaskId } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import { failureOf } from '../../operations/failure.ts';
import type { Terminals } from '../../processes/ports/terminal.ts';
import { type FoundOutput, findOutput } from './find.ts';
import { LogSource } from './log-source.ts';
import { OutputPage } from './page.ts';
import type { OutputSource } from './source.ts';
import { TakeOverWatch } from './take-over-watch.ts';
import { TerminalSource } from './terminal-source.ts';

/** What a server needs of this machine to show output and to pass on input. */
export interface OutputParts {
  readonly node: NodeId;
  /** The name of the person whose token opens the server. */
  readonly person: string | null;
  readonly logs: AttemptLogs;
  readonly terminals: Terminals;
  /** Of this clone. */
  readonly hasOtherServers: () => Promise<boolean>;
  /** For a take-over whose page has been closed. */
  readonly giveBack: (task: TaskId) => Promise<void>;
}

export interface OutputsOptions {
  readonly board: Board;
  readonly parts: OutputParts;
  readonly policy: Pick<Policy, 'server' | 'terminals'>;
  readonly signal: AbortSignal;
  readonly onProblem: (text: string) => void;
}

interface OpenOutput {
  readonly source: OutputSource;
  readonly attempt: AttemptId;
  pages: number;
  closing: NodeJS.Timeout | undefined;
}

export class Outputs {
  readonly #options: OutputsOptions;
  readonly #open = new Map<string, OpenOutput>();
  readonly #watch: TakeOverWatch;
  #pages = 0;

  constructor(options: OutputsOptions) {
    this.#options = options;
    const { board, parts, policy, onProblem } = options;
    this.#watch = new TakeOverWatch({ ...parts, board, onProblem, afterMs: policy.terminals.pageClosedMs });
    void this.#watch.begin();
  }

  onEvent(event: BoardEvent): void {
    if (event.type !== 'attempt.ended') return;
    for (const { attempt, source } of this.#open.values())
      if (attempt === event.id && source instanceof LogSource) source.endSoon();
  }

  /** Until the page is closed. */
  async show(
    socket: WebSocket,
    task: string,
    query: ReadonlyMap<string, string>,
  ): Promise<'slow' | 'stopped'> {
    const { board, parts, policy, signal } = this.#options;
    const page = new OutputPage(socket, { ...policy, signal });
    let found: FoundOutput;
    try {
      found = await findOutput(board, parts, task, query);
    } catch (error) {
      page.refuse(failureOf(error));
      return 'stopped';
    }
    const opened = this.#take(found);
    if (opened === undefined) {
      page.refuse({ code: 'busy', reason: 'Too many sessions are shown at once. Close a page.', next: [] });
      return 'stopped';
    }
    const isTerminal = found.view === 'terminal';
    if (isTerminal) this.#watch.opened(found.session);
    try {
      const { task: id, session, attempt, view } = found;
      // Its end may have been told before its source was there.
      const { source } = opened;
      if (source instanceof LogSource && (await board.get('attempt', attempt))?.end != null) source.endSoon();
      return await page.show({
        source,
        from: found.from,
        about: { task: id, session, attempt, view },
        refuseTyping: () => this.#refuse(id, session),
      });
    } finally {
      if (isTerminal) this.#watch.closed(found.session);
      this.#release(found.key, opened);
    }
  }

  close(): void {
    this.#watch.close();
    for (const { source, closing } of this.#open.values()) {
      clearTimeout(closing);
      source.close();
    }
    this.#open.clear();
  }

  async #refuse(id: TaskId, of: SessionId) {
    const { board, parts } = this.#options;
    const task = await board.get('task', id);
    const session = await board.get('session', of);
    if (task === undefined) return { code: 'not_found', reason: `${id} was deleted.`, next: ['copse list'] };
    return refuseTyping(task, session, parts)?.refusal ?? null;
  }

  #take({ key, attempt, name, view }: FoundOutput): OpenOutput | undefined {
    const { parts, policy } = this.#options;
    const { pages, sources } = policy.terminals;
    const known = this.#open.get(key);
    const isDead = known?.source instanceof TerminalSource && known.source.isEnded;
    if (this.#pages >= pages || (known === undefined && this.#open.size >= sources)) return undefined;
    const open =
      known !== undefined && !isDead
        ? known
        : {
            attempt,
            pages: 0,
            closing: undefined,
            source:
              view === 'terminal'
                ? new TerminalSource(parts.terminals, name.terminal, policy.terminals)
                : new LogSource(parts.logs, name.log, policy.terminals),
          };
    this.#open.set(key, open);
    clearTimeout(open.closing);
    open.pages += 1;
    this.#pages += 1;
    return open;
  }

  #release(key: string, open: OpenOutput): void {
    open.pages -= 1;
    this.#pages -= 1;
    if (open.pages > 0) return;
    const close = () => {
      open.source.close();
      if (this.#open.get(key) === open) this.#open.delete(key);
    };
    open.closing = setTimeout(close, this.#options.policy.terminals.lingerMs);
    open.closing.unref();
  }
}
