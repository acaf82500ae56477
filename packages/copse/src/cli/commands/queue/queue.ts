import { type QueueSettings, loadQueue, loadQueues } from '../../../queue/act/view.ts';
import type { LookContext } from '../../../queue/context.ts';
import { targetOf } from '../../../queue/act/landing-target.ts';
import type { BoardEvent, EventType } from '../../../board/rules/event.ts';
import type { BranchName } from '../../../kernel/ids.ts';
import type { QueueView } from '../../../queue/rules/view/view.ts';
import { shown } from '../../../kernel/text.ts';
import { queueView } from '../../../operations/views/queue-views.ts';
import { eventLine } from '../../screen/event-line.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { tellEvents } from '../../screen/live-view.ts';
import { queueLines } from '../../screen/queue-text.ts';
import { Screen, cut, wrapped } from '../../screen/screen.ts';
import { BoardAway } from '../../../board/port.ts';
import { withLook } from '../../../compose/look.ts';
import { type WaitsForBoard, waitForBoard } from '../../screen/wait-for-board.ts';
import type { Terminal } from '../../watch/terminal.ts';

interface Options {
  readonly target?: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const canMove = cli.output.isTerminal && cli.env['TERM'] !== 'dumb';
  const waits = options.watch && canMove && !options.json ? waitForBoard(cli) : undefined;
  const shows = async (context: LookContext): Promise<void> => {
    const load = () => loadShown(context, context.landing, options.target as BranchName | undefined);
    if (options.json) {
      cli.output.json({ queues: (await load()).map(queueView) });
      return;
    }
    if (waits !== undefined) await watch(cli, context, { load, waits });
    print(cli, context, await load());
    if (!options.watch && canMove && (await context.board.openLandings()).length > 0)
      cli.output.line(cli.output.style('dim', '  → copse queue --watch'));
  };
  try {
    await withLook(cli, shows, waits && { patience: waits.patience });
  } catch (error) {
    // Ctrl+C during an outage is no failure.
    if (!(waits?.stop.signal.aborted && error instanceof BoardAway)) throw error;
  } finally {
    waits?.end();
  }
}

/** Queues with entries or a pause; the usual target if there are none. */
async function loadShown(
  context: LookContext,
  settings: QueueSettings,
  target: BranchName | undefined,
): Promise<readonly QueueView[]> {
  if (target !== undefined) return [await loadQueue(context, settings, target)];
  const usual = await targetOf(context, undefined);
  const queues = await loadQueues(context, settings, usual === undefined ? [] : [usual]);
  const busy = queues.filter(
    ({ entries, paused }) => entries.length > 0 || (paused.accept ?? paused.land) !== null,
  );
  return busy.length === 0 ? queues : busy;
}

function print({ output }: Cli, context: LookContext, queues: readonly QueueView[]): void {
  const width = output.isTerminal ? output.columns() : Infinity;
  for (const line of pictureOf(output, queues, context)) output.line(cut(line, width));
  if (queues.length === 0) output.line('There is no branch to land on.');
}

function pictureOf(
  output: Cli['output'],
  queues: readonly QueueView[],
  { agents, clock }: LookContext,
): readonly string[] {
  const look = { now: clock.now(), hasAgents: agents.length > 0 };
  return queues.flatMap((queue, at) => [...(at === 0 ? [] : ['']), ...queueLines(queue, output, look)]);
}

const REDRAW_MS = 1_000;
/** Events that arrive together are drawn together. */
const GATHER_MS = 50;

/** Event lines scroll above the picture, which is drawn again after every event. */
async function watch(
  cli: Cli,
  context: LookContext,
  {
    load,
    waits: { stop, tellBy },
  }: { readonly load: () => Promise<readonly QueueView[]>; readonly waits: WaitsForBoard },
): Promise<void> {
  const { board, clock } = context;
  const screen = new Screen(cli.output);
  tellBy((text) => screen.log([text]));
  let woken = new AbortController();
  const subscription = await board.onChange(() => woken.abort());
  const told = tellEvents(context, await board.lastEvent(), stop.signal, async (event) => {
    screen.log(await linesOf(cli, context, event));
  });
  // The loop meets the same fault.
  told.catch(() => {});
  const keys = await openKeys(cli, { quit: () => stop.abort(), screen, redraw: () => woken.abort() });
  try {
    while (!stop.signal.aborted) {
      woken = new AbortController();
      const foot = cli.output.style(
        'dim',
        `── ${keys === undefined ? '' : 'q or '}Ctrl+C closes this view ──`,
      );
      screen.draw([...pictureOf(cli.output, await load(), context), foot]);
      await clock.sleep(REDRAW_MS, AbortSignal.any([stop.signal, woken.signal]));
      await clock.sleep(GATHER_MS, stop.signal);
    }
  } finally {
    stop.abort();
    // Also when drawing fails: the message comes after it.
    keys?.leave();
    await told;
    await subscription.stop();
    screen.close();
  }
}

/** Raw keys, so that none is written over the picture. Undefined where the input is no terminal. */
async function openKeys(
  cli: Cli,
  {
    quit,
    redraw,
    screen,
  }: { readonly quit: () => void; readonly redraw: () => void; readonly screen: Screen },
): Promise<Terminal | undefined> {
  if (!cli.stdin().isTTY) return undefined;
  const { isQuit, isSuspend } = await import('../../screen/keys.ts');
  const { Terminal, stopUntilContinued } = await import('../../watch/terminal.ts');
  const { savedTerminal } = await import('../../watch/guard.ts');
  const suspend = async () => {
    screen.close();
    await terminal.outside(stopUntilContinued);
    redraw();
  };
  const terminal = new Terminal(cli, {
    saved: savedTerminal(),
    isShared: true,
    onKey: (key) => (isQuit(key) ? quit() : isSuspend(key) && void suspend()),
    onResize: redraw,
    onGone: quit,
  });
  terminal.enter();
  // Also after an uncaught error.
  process.once('exit', () => terminal.leave());
  return terminal;
}

const told: ReadonlySet<EventType> = new Set<EventType>([
  'task.queued',
  'task.done',
  'task.handed_back',
  'task.needs_attention',
  'landing.hurried',
  'landing.checks_skipped',
  'landing.withdrawn',
  'queue.paused',
  'queue.resumed',
  'queue.retried',
  'queue.stalled',
  'queue.moving',
]);

/** The end of a check's output that is shown. */
const TAIL_LINES = 6;
const INDENT = 13;

async function linesOf(
  { output }: Cli,
  { board }: LookContext,
  event: BoardEvent,
): Promise<readonly string[]> {
  if (!told.has(event.type)) return [];
  const line = await eventLine(event, board, output);
  if (line === undefined) return [];
  const isBack = event.type === 'task.handed_back' || event.type === 'task.needs_attention';
  const [, ...rest] = isBack ? event.reason.trimEnd().split('\n') : [];
  const tail = rest.filter((text) => text.trim() !== '').slice(-TAIL_LINES);
  const columns = output.columns() - 1;
  return [
    ...wrapped(line, columns, INDENT),
    ...tail.map((text) => cut(`${' '.repeat(INDENT)}${output.style('dim', shown(text))}`, columns)),
  ];
}
