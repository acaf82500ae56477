/**
 * What `copse orchestrate` shows: on a terminal the panels of `copse status`, and event lines that scroll above
 * them; elsewhere only the event lines.
 */

import { loadOverview } from '../../explain/overview.ts';
import type { Overview } from '../../explain/rules/overview.ts';
import { followEvents } from '../../board/follow.ts';
import type { Pass } from '../../orchestrator/orchestrate.ts';
import type { RunContext } from '../../queue/context.ts';
import type { BoardEvent } from '../../board/rules/event.ts';
import type { EventNumber, TaskId } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import { eventLine } from './event-line.ts';
import type { Cli } from '../invocation.ts';
import { panelLines } from './panels.ts';
import { Screen, wrapped } from './screen.ts';

export interface View {
  event(event: BoardEvent): Promise<void>;
  problem(task: TaskId | null, reason: string): void;
  /** A remark about the line before. */
  note(text: string): void;
  pass(pass: Pass): void;
  close(): Promise<void>;
}

export interface ViewOptions {
  /** What Ctrl+C does, for the status area. */
  readonly onInterrupt: string;
}

export function openView(cli: Cli, context: RunContext, options: ViewOptions): View {
  const canMove = cli.output.isTerminal && cli.env['TERM'] !== 'dumb';
  return canMove ? new LiveView(cli, context, options) : new PlainView(cli, context);
}

/** Every event after `after` until the signal, including those recorded just before it. */
export async function tellEvents(
  { board, policy }: Pick<RunContext, 'board' | 'policy'>,
  after: EventNumber,
  signal: AbortSignal,
  tell: (event: BoardEvent) => Promise<void>,
): Promise<void> {
  let told = after;
  for await (const { number, event } of followEvents(board, { after, signal, policy: policy.board })) {
    await tell(event);
    told = number;
  }
  const { events } = await board.eventPage({ ...policy.eventPage, after: told });
  for (const { event } of events) await tell(event);
}

const TIME_WIDTH = 8;
/** The column where the text of a line begins, after time, word and task. */
const TEXT_AT = 29;

/** Lines with the time, for files and pipes. */
class PlainView implements View {
  protected readonly cli: Cli;
  protected readonly context: RunContext;

  constructor(cli: Cli, context: RunContext) {
    this.cli = cli;
    this.context = context;
  }

  async event(event: BoardEvent): Promise<void> {
    const line = await eventLine(event, this.context.board, this.cli.output);
    if (line !== undefined) this.say(`${this.time()} ${line}`, TEXT_AT);
  }

  problem(task: TaskId | null, reason: string): void {
    const about = task === null ? '' : `${task} `;
    const word = this.cli.output.style('yellow', 'note       ');
    this.say(`${this.time()} ${word} ${about}${shown(reason.split('\n', 1)[0] ?? '')}`, TEXT_AT);
  }

  note(text: string): void {
    this.say(`${' '.repeat(TIME_WIDTH)} ${this.cli.output.style('dim', `↳ ${shown(text)}`)}`, TIME_WIDTH + 3);
  }

  pass(_pass: Pass): void {}

  async close(): Promise<void> {}

  /** A long line continues below, from the given column. */
  protected say(line: string, _indent: number): void {
    this.cli.output.line(line);
  }

  protected time(): string {
    return this.cli.output.style(
      'dim',
      new Date(this.context.clock.now()).toTimeString().slice(0, TIME_WIDTH),
    );
  }
}

/** The board is asked at most this often. */
const REDRAW_MS = 1_000;
/** Rows for event lines above the panels. */
const EVENT_ROWS = 5;

class LiveView extends PlainView {
  readonly #screen: Screen;
  readonly #timer: NodeJS.Timeout;
  readonly #onInterrupt: string;
  #loading: Promise<void> | undefined;
  #loadedMs = -Infinity;
  #isClosed = false;

  constructor(cli: Cli, context: RunContext, { onInterrupt }: ViewOptions) {
    super(cli, context);
    this.#onInterrupt = onInterrupt;
    this.#screen = new Screen(cli.output);
    this.#timer = setInterval(() => this.#refresh(), REDRAW_MS);
    this.#timer.unref();
  }

  override pass(): void {
    // Otherwise the timer shows it within a second.
    if (this.context.clock.elapsedMs() - this.#loadedMs >= REDRAW_MS) this.#refresh();
  }

  override async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#loading;
    this.#screen.close();
  }

  protected override say(line: string, indent: number): void {
    this.#screen.log(wrapped(line, this.cli.output.columns() - 1, indent));
  }

  #refresh(): void {
    if (this.#isClosed || this.#loading !== undefined) return;
    this.#loadedMs = this.context.clock.elapsedMs();
    this.#loading = loadOverview(this.context, { isOrchestrated: true, readyLimit: this.cli.output.rows() })
      .then((overview) => this.#draw(overview))
      // A board that cannot be read is told by the loop; the last picture stays.
      .catch(() => {})
      .finally(() => (this.#loading = undefined));
  }

  #draw(overview: Overview): void {
    if (this.#isClosed) return;
    const { output } = this.cli;
    const { maxAgents } = this.context.policy.orchestration;
    const columns = output.columns() - 1;
    const rows = Math.max(LEAST_ROWS, output.rows() - EVENT_ROWS);
    const top = `── ${runningHere(overview)} of ${maxAgents} running ── Ctrl+C ${this.#onInterrupt} ──`;
    this.#screen.draw([
      output.style('dim', top),
      ...panelLines(overview, { columns, rows: rows - 1 }, output.style),
    ]);
  }
}

const LEAST_ROWS = 4;

/** Those that wait for an answer run too. */
function runningHere({ working, needsYou }: Overview): number {
  const isHere = ({ isByHand, node }: Overview['working'][number]) => !isByHand && node === null;
  const waiting = needsYou.filter(({ kind }) => kind === 'permission' || kind === 'waiting');
  return working.filter(isHere).length + waiting.length;
}
