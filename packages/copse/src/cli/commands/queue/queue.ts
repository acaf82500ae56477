import { withAccess } from '../../../compose/operations/access.ts';
import type { LookContext } from '../../../queue/context.ts';
import type { BoardEvent, EventType } from '../../../board/rules/event.ts';
import type { QueueView } from '../../../queue/rules/view/view.ts';
import { shown } from '../../../kernel/text.ts';
import { act, loadShown, view } from '../../../operations/queue/list.ts';
import { NO_TARGET, remedyOfNoTarget, requireTarget } from '../../../operations/queue/target.ts';
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
  if (options.watch && canMove && !options.json) return watchUntilStopped(cli, options);
  await withAccess(cli, async (access) => {
    const queues = await act(access, options);
    if (options.json) return cli.output.json(view(queues));
    await access.look(async (context) => {
      await print(cli, context, queues);
      if (!options.watch && canMove && (await context.board.openLandings()).length > 0)
        cli.output.line(cli.output.style('dim', '  → copse queue --watch'));
    });
  });
}

async function watchUntilStopped(cli: Cli, options: Options): Promise<void> {
  const waits = waitForBoard(cli);
  const shows = async (context: LookContext): Promise<void> => {
    const target = options.target === undefined ? undefined : await requireTarget(context, options.target);
    const load = () => loadShown(context, target);
    await watch(cli, context, { load, waits });
    await print(cli, context, await load());
  };
  try {
    await withLook(cli, shows, { patience: waits.patience });
  } catch (error) {
    // Ctrl+C during an outage is no failure.
    if (!(waits.stop.signal.aborted && error instanceof BoardAway)) throw error;
  } finally {
    waits.end();
  }
}

async function print({ output }: Cli, context: LookContext, queues: readonly QueueView[]): Promise<void> {
  const width = output.isTerminal ? output.columns() : Infinity;
  for (const line of pictureOf(output, queues, context)) output.line(cut(line, width));
  if (queues.length > 0) return;
  output.line(NO_TARGET);
  output.line(output.style('dim', `  → ${await remedyOfNoTarget(context)}`));
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
