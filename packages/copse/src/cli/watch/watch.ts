/**
 * `copse watch`: follows the board, draws, and carries out what keys lead to. Commands run inside this process with their output
 * caught; programs that need the terminal get it. Nothing here waits while something else could be drawn.
 */

import { Readable, Writable } from 'node:stream';

import { runCopseOnTerminal, showInPager } from '../../compose/on-demand.ts';
import { timestamp } from '../../kernel/ids.ts';
import type { Cli } from '../invocation.ts';
import { type WatchFacts, Following } from './following.ts';
import { colouredPatch } from '../screen/diff-text.ts';
import type { PressedKey } from '../screen/keys.ts';
import type { WatchEffect, Message, WatchState } from './model.ts';
import { Renderer } from './renderer.ts';
import { firstState, pageUpdated, press, toNextNeed, updated } from './state.ts';
import { Terminal, stopUntilContinued } from './terminal.ts';
import { frameOf, pageLines } from './view.ts';

const FRAME_MS = 100;
/** Ages change. */
const TICK_MS = 1_000;
/** A board that answers sooner is the first thing on the screen. */
const PATIENCE_MS = 300;
/** A program that ended sooner showed a person nothing yet. */
const READABLE_MS = 1_000;
/** Later a message would be about something else than the screen. */
const MESSAGE_MS = 15_000;
const LOG_LINES = '2000';

export class Watch {
  readonly #cli: Cli;
  readonly #terminal: Terminal;
  readonly #renderer = new Renderer();
  readonly #following: Following;
  readonly #timers: NodeJS.Timeout[] = [];
  #state: WatchState = firstState;
  #drawnAtMs = -FRAME_MS;
  #saidAtMs = 0;
  #nextFrame: NodeJS.Timeout | undefined;
  #isOutside = false;
  #page: { readonly argv: readonly string[] } | undefined;
  #quit: () => void = () => {};

  constructor(cli: Cli, saved: string | null) {
    this.#cli = cli;
    this.#terminal = new Terminal(cli, {
      saved,
      onKey: (key) => this.#press(key),
      onResize: () => this.#draw(),
      onGone: () => this.#quit(),
    });
    this.#following = new Following(cli, {
      onFacts: (facts) => this.#update(facts),
      onProblem: (problem) => this.#set({ ...this.#state, problem }),
    });
  }

  /** Until the person quits or a signal ends it. The terminal is then as it was. */
  async run(): Promise<void> {
    const over = new Promise<void>((resolve) => (this.#quit = resolve));
    const leave = () => this.#terminal.leave();
    const onSignal = () => this.#quit();
    const onInterrupt = () => this.#isOutside || this.#quit();
    process.on('exit', leave).on('SIGTERM', onSignal).on('SIGHUP', onSignal).on('SIGINT', onInterrupt);
    process.on('uncaughtExceptionMonitor', leave);
    try {
      this.#terminal.enter();
      const following = this.#following.run();
      this.#timers.push(setTimeout(() => this.#draw(), PATIENCE_MS));
      this.#timers.push(setInterval(() => this.#tick(), TICK_MS));
      // A fault of this program ends it like any other command.
      await Promise.race([over, following]);
      this.#following.stop();
      await following;
    } finally {
      this.#following.stop();
      for (const timer of [...this.#timers, this.#nextFrame]) clearTimeout(timer);
      this.#nextFrame = undefined;
      leave();
      process.off('exit', leave).off('SIGTERM', onSignal).off('SIGHUP', onSignal).off('SIGINT', onInterrupt);
      process.off('uncaughtExceptionMonitor', leave);
    }
  }

  #update(facts: WatchFacts): void {
    this.#set(updated(this.#state, facts, this.#now()));
  }

  #set(state: WatchState): void {
    this.#state = state;
    this.#draw();
  }

  #now() {
    return timestamp(Date.now());
  }

  #tick(): void {
    const isOld = performance.now() - this.#saidAtMs > MESSAGE_MS && this.#state.message?.kind !== 'busy';
    if (isOld) this.#state = { ...this.#state, message: null };
    if (this.#page !== undefined && this.#state.mode.kind === 'page') void this.#refreshPage(this.#page.argv);
    this.#draw();
  }

  /** At once, or when the last frame is old enough. */
  #draw(): void {
    if (this.#nextFrame !== undefined || this.#isOutside) return;
    const waitMs = Math.max(0, this.#drawnAtMs + FRAME_MS - performance.now());
    this.#nextFrame = setTimeout(() => this.#drawNow(), waitMs);
  }

  #drawNow(): void {
    this.#nextFrame = undefined;
    if (this.#isOutside) return;
    const { state, size } = { state: this.#state, size: this.#terminal.size };
    const frame = frameOf(state, size, this.#cli.output.style, this.#now());
    const bytes = this.#renderer.render(frame, size);
    if (bytes === '') return;
    this.#drawnAtMs = performance.now();
    this.#terminal.write(bytes);
  }

  #press(key: PressedKey): void {
    if (this.#isOutside) return;
    const { rows } = this.#terminal.size;
    const { state, effect } = press(this.#state, key, { rows, now: Date.now() });
    if (state.mode.kind !== 'page') this.#page = undefined;
    this.#saidAtMs = performance.now();
    this.#set(state);
    if (effect !== null) void this.#carryOut(effect).catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.#say({ kind: 'refused', lines: [`Unexpected error: ${text}`, '→ copse doctor'] });
  }

  #say(message: Message): void {
    this.#saidAtMs = performance.now();
    this.#set({ ...this.#state, message });
  }

  async #carryOut(effect: WatchEffect): Promise<void> {
    switch (effect.kind) {
      case 'quit':
        return this.#quit();
      case 'suspend':
        return this.#outside(stopUntilContinued);
      case 'run':
        return this.#run(effect.argv, effect.isAnswer);
      case 'page':
        return this.#openPage(effect.argv, effect.isFollowed);
      case 'outside':
        return this.#runOutside(effect.argv, effect.isAttach);
      case 'diff':
        return this.#showDiff(effect.target.task);
      case 'ask':
        return this.#ask(effect.target);
      case 'path':
        return this.#showPath(effect.target.task);
    }
  }

  /** The same code as the command in a shell. */
  async #inside(argv: readonly string[], { isQuiet = false } = {}): Promise<Ran> {
    if (!isQuiet) this.#say({ kind: 'busy', lines: [`copse ${argv.join(' ')} …`] });
    const [stdout, stderr] = [new Caught(), new Caught()];
    const code = await this.#cli.runInside(argv, { stdin: () => Readable.from([]), stdout, stderr });
    return { code, stdout: stdout.text, stderr: stderr.text };
  }

  async #run(argv: readonly string[], isAnswer: boolean): Promise<void> {
    const ran = await this.#inside(argv);
    this.#following.wake();
    if (ran.code === 0 && isAnswer) this.#state = toNextNeed(this.#state);
    this.#say(messageOf(ran));
  }

  async #openPage(argv: readonly string[], isFollowed: boolean): Promise<void> {
    const full = isFollowed ? [...argv, '--lines', LOG_LINES] : argv;
    const ran = await this.#inside(full);
    this.#following.wake();
    const isShort = ran.stdout.trim().split('\n').length <= 2;
    if (ran.code !== 0 || (isShort && argv[0] !== 'why' && !isFollowed)) return this.#say(messageOf(ran));
    const { columns, rows } = this.#terminal.size;
    const lines = pageLines(ran.stdout, columns);
    const top = isFollowed ? Math.max(0, lines.length - rows + 2) : 0;
    const mode = { kind: 'page', title: `copse ${argv.join(' ')}`, lines, top, isFollowed } as const;
    this.#page = isFollowed ? { argv: full } : undefined;
    this.#set({ ...this.#state, mode, message: null });
  }

  async #refreshPage(argv: readonly string[]): Promise<void> {
    const { code, stdout } = await this.#inside(argv, { isQuiet: true });
    if (code !== 0 || this.#page?.argv !== argv) return;
    const { columns, rows } = this.#terminal.size;
    this.#set(pageUpdated(this.#state, pageLines(stdout, columns), rows));
  }

  async #runOutside(argv: readonly string[], isAttach: boolean): Promise<void> {
    const ended = await this.#outside(async () => {
      const end = await runCopseOnTerminal(argv, { errors: isAttach ? 'returned' : 'on terminal' });
      if (!isAttach) await this.#untilKey();
      return end;
    });
    this.#following.wake();
    if (isAttach && ended.code !== 0)
      this.#say(messageOf({ code: ended.code ?? 1, stdout: '', stderr: ended.errors }));
  }

  async #showDiff(task: string): Promise<void> {
    const ran = await this.#inside(['diff', task]);
    if (ran.code !== 0) return this.#say(messageOf(ran));
    if (ran.stdout.trim() === '')
      return this.#say({ kind: 'done', lines: [`The branch of ${task} has no committed changes.`] });
    this.#set({ ...this.#state, message: null });
    const isPaged = await this.#outside(async () => {
      const beganMs = performance.now();
      const wasShown = await showInPager(colouredPatch(ran.stdout, this.#cli.output.style), this.#cli);
      if (wasShown && performance.now() - beganMs < READABLE_MS) await this.#untilKey();
      return wasShown;
    });
    if (isPaged) return;
    const lines = pageLines(ran.stdout, this.#terminal.size.columns);
    this.#set({
      ...this.#state,
      mode: { kind: 'page', title: `copse diff ${task}`, lines, top: 0, isFollowed: false },
    });
  }

  async #ask(target: Extract<WatchEffect, { kind: 'ask' }>['target']): Promise<void> {
    const ran = await this.#inside(['answer', target.task, '--json']);
    if (ran.code !== 0) return this.#say(messageOf(ran));
    const { question } = JSON.parse(ran.stdout) as {
      readonly question: { readonly id: string; readonly tool: string; readonly what: string } | null;
    };
    if (question === null) {
      this.#following.wake();
      return this.#say({
        kind: 'refused',
        lines: [`The agent of ${target.task} asks no question any more.`],
      });
    }
    const lines = [
      `${target.task} ${target.title}: its agent asks to use ${question.tool}`,
      ...question.what
        .trimEnd()
        .split('\n')
        .map((line) => `  ${line}`),
    ];
    this.#set({
      ...this.#state,
      mode: { kind: 'permitting', target, question: question.id, lines },
      message: null,
    });
  }

  async #showPath(task: string): Promise<void> {
    const ran = await this.#inside(['worktrees', '--json']);
    if (ran.code !== 0) return this.#say(messageOf(ran));
    const { worktrees } = JSON.parse(ran.stdout) as {
      readonly worktrees: readonly { readonly task: string; readonly worktree: string }[];
    };
    const found = worktrees.find((one) => one.task === task);
    this.#say(
      found === undefined
        ? { kind: 'refused', lines: [`${task} has no worktree on this machine.`, `→ copse work ${task}`] }
        : { kind: 'done', lines: [found.worktree] },
    );
  }

  async #outside<T>(work: () => Promise<T>): Promise<T> {
    this.#isOutside = true;
    try {
      return await this.#terminal.outside(work);
    } finally {
      this.#isOutside = false;
      this.#renderer.forget();
      this.#draw();
    }
  }

  /** Another program's last words stay until the person has read them. */
  async #untilKey(): Promise<void> {
    this.#cli.output.line(this.#cli.output.style('dim', 'Any key goes back to copse watch.'));
    await this.#terminal.anyKey();
  }
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The first lines of what a command said, or of why it failed. */
function messageOf({ code, stdout, stderr }: Ran): Message {
  const lines = (code === 0 ? stdout : stderr)
    .trim()
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  // A remark without the command below it says nothing.
  const [first = code === 0 ? 'Done.' : 'It failed and said nothing.', ...next] = lines;
  return {
    kind: code === 0 ? 'done' : 'refused',
    lines: [first.replace(/^copse: /, ''), ...untilCommand(next, 2)],
  };
}

function untilCommand(lines: readonly string[], most: number): readonly string[] {
  const fitting = lines.slice(0, most);
  const isRemark = fitting.at(-1)?.endsWith(':') && lines[most]?.startsWith('→');
  return isRemark ? fitting.slice(0, -1) : fitting;
}

class Caught extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}
