/**
 * What `copse orchestrate` shows: on a terminal a status area with the running agents and landings, and event lines that
 * scroll above it; elsewhere only the event lines.
 */

import { waitText } from '../../explain/rules/queue.ts';
import { followEvents } from '../../board/follow.ts';
import type { RunningTask } from '../../agents/act/observe.ts';
import type { Pass } from '../../orchestrator/orchestrate.ts';
import type { RunContext } from '../../queue/context.ts';
import type { BoardEvent } from '../../board/rules/event.ts';
import type { EventNumber, TaskId } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import { eventLine } from './event-line.ts';
import type { Cli } from '../invocation.ts';
import { age } from '../../explain/rules/amounts.ts';
import { Screen, wrapped } from './screen.ts';

export interface View {
  event(event: BoardEvent): Promise<void>;
  problem(task: TaskId | null, reason: string): void;
  /** A remark about the line before. */
  note(text: string): void;
  pass(pass: Pass): void;
  close(): void;
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
  for (const { event } of await board.events({ after: told, limit: LAST_EVENTS })) await tell(event);
}

const LAST_EVENTS = 500;

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

  close(): void {}

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

const REDRAW_MS = 1_000;

class LiveView extends PlainView {
  readonly #screen: Screen;
  readonly #timer: NodeJS.Timeout;
  readonly #onInterrupt: string;
  #pass: Pass | undefined;

  constructor(cli: Cli, context: RunContext, { onInterrupt }: ViewOptions) {
    super(cli, context);
    this.#onInterrupt = onInterrupt;
    this.#screen = new Screen(cli.output);
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS);
    this.#timer.unref();
  }

  override pass(pass: Pass): void {
    this.#pass = pass;
    this.#draw();
  }

  override close(): void {
    clearInterval(this.#timer);
    this.#screen.close();
  }

  protected override say(line: string, indent: number): void {
    this.#screen.log(wrapped(line, this.cli.output.columns() - 1, indent));
  }

  #draw(): void {
    if (this.#pass === undefined) return;
    const { running, landings, waiting } = this.#pass;
    const { output } = this.cli;
    const { clock, policy } = this.context;
    // At the limit, the orchestrator does not look at further tasks, so their number is unknown.
    const isFull = running.length >= policy.orchestration.maxAgents;
    const counts = [
      `${running.length} of ${policy.orchestration.maxAgents} running`,
      ...(landings.length > 0 ? [`${landings.length} landing`] : []),
      ...(waiting.length > 0 ? [isFull ? 'more waiting' : `${waiting.length} waiting`] : []),
    ];
    this.#screen.draw([
      output.style('dim', `── ${counts.join(' · ')} ── Ctrl+C ${this.#onInterrupt} ──`),
      ...running.toSorted(byAge).map(({ task }) => {
        const agent = task.state.status === 'in_progress' ? task.state.claim.agent : '';
        const since = age(task.state.since, clock.now()).padStart(4);
        return `${output.style('cyan', '*')} ${task.id} ${since} ${shown(agent)}  ${shown(task.title)}`;
      }),
      ...landings.map(({ task, queuedAt, waiting: why }) => {
        const since = age(queuedAt, clock.now()).padStart(4);
        return `${output.style('green', '>')} ${task} ${since} ${why === null ? 'landing' : shown(waitText(why))}`;
      }),
    ]);
  }
}

/** Oldest first, so that lines keep their place. */
function byAge(one: RunningTask, other: RunningTask): number {
  return one.task.state.since - other.task.state.since;
}
