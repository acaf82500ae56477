/**
 * One client of tmux in control mode, for the pane of one agent: a process without a terminal that prints output as lines
 * (lines.ts) and takes commands as lines.
 *
 *   start → list panes → choose the agent's → ready → screen, output, size … → end
 *
 * Answers come in the order of commands, between guards with the number of the command. The client never changes the size of
 * the terminal (`ignore-size`), and tmux never waits for it (`pause-after`): what it cannot take is left out and told as a gap.
 * `read-only` keeps keys from it; commands to type are sent by `type` alone.
 *
 * Only numbers and hexadecimal digits of ours are in a command: nothing that an agent or a person wrote.
 */

import { type ChildProcess, spawn } from 'node:child_process';

import { defaultPolicy } from '../../kernel/policy.ts';
import { launchersAmong } from '../launcher.ts';
import type { OpenTerminal, TerminalEvents, Terminals, Typed } from '../ports/terminal.ts';
import { type TmuxServer, serverEnvironment } from '../tmux.ts';
import { LineCutter, parseControlLine } from './lines.ts';
import { SCREEN_FORMAT, type ScreenFacts, drawn, parseScreenFacts } from './screen.ts';

const limits = defaultPolicy.terminals;

export function openTerminals(server: TmuxServer = {}): Terminals {
  return {
    open: (name, events) => {
      if (!/^[\w-]+$/.test(name)) throw new Error(`${name} cannot be the name of a tmux session.`);
      return new ControlClient(name, server, events);
    },
  };
}

interface Command {
  readonly line: string;
  /** With the lines of each answer; undefined when tmux refused it, or ended. */
  readonly done: (answers: readonly (readonly Buffer[])[] | undefined) => void;
  /** How many answers it gets, and how many lines of any text the next one has. */
  readonly answers: number;
  readonly textLines?: (answers: readonly (readonly Buffer[])[]) => number;
}

/** `text`: so many lines of it are still taken as they are. */
interface AnswerBlock {
  readonly number: string;
  readonly isOurs: boolean;
  readonly lines: Buffer[];
  text: number;
}

class ControlClient implements OpenTerminal {
  readonly #child: ChildProcess;
  readonly #events: TerminalEvents;
  readonly #cutter = new LineCutter(limits.lineBytes);
  readonly #sent: Command[] = [];
  #answers: (readonly Buffer[])[] = [];
  #block: AnswerBlock | null = null;
  #pane: string | undefined;
  #size = '';
  #isLookWanted = false;
  #flow: 'running' | 'pausing' | 'paused' = 'running';
  #window = { sinceMs: 0, bytes: 0 };
  #isAttached = false;
  #isOver = false;
  #said = '';
  #late: NodeJS.Timeout | undefined;

  constructor(name: string, { socket }: TmuxServer, events: TerminalEvents) {
    this.#events = events;
    const place = socket === undefined ? [] : ['-L', socket];
    const flags = '-fread-only,ignore-size,pause-after=1';
    const argv = [...place, '-u', '-C', 'attach-session', '-E', '-t', `=${name}`, flags];
    this.#child = spawn('tmux', argv, { env: serverEnvironment(), cwd: '/', stdio: 'pipe' });
    this.#child.on('error', (error: NodeJS.ErrnoException) =>
      this.#end(error.code === 'ENOENT' ? 'tmux is not installed.' : error.message),
    );
    this.#child.once('close', () => this.#end(this.#isAttached ? ENDED : absentText(this.#said)));
    // Without a free file number it has no pipes, whatever its type says, and its error follows.
    this.#child.stdin?.on('error', () => {});
    this.#child.stderr?.on('data', (chunk: Buffer) => this.#hear(chunk.toString('latin1')));
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#send({
      line: `list-panes -s -t '=${name}:' -F '#{pane_id} #{pane_pid}'`,
      answers: 1,
      done: (answers) =>
        void this.#choosePane(answers?.[0] ?? []).catch((error: unknown) => this.#end(String(error))),
    });
  }

  look(): void {
    const pane = this.#pane;
    this.#isLookWanted = pane === undefined;
    if (pane === undefined) return;
    let facts: ScreenFacts | undefined;
    this.#send({
      line: `display-message -p -t ${pane} '${SCREEN_FORMAT}' ; capture-pane -p -e -N -t ${pane}`,
      answers: 2,
      textLines: ([said]) => {
        facts = parseScreenFacts(textOf(said));
        return facts?.rows ?? 0;
      },
      done: (answers) => {
        if (answers === undefined || facts === undefined) return this.#end(ENDED);
        this.#size = `${facts.columns} ${facts.rows}`;
        this.#events.onScreen(drawn(facts, answers[1] ?? []));
      },
    });
  }

  async type(bytes: Uint8Array): Promise<Typed> {
    if (this.#pane === undefined || this.#isOver) return 'not_typed';
    const typed: Promise<boolean>[] = [];
    for (let from = 0; from < bytes.length; from += limits.typedAtOnce) {
      const keys = Array.from(bytes.subarray(from, from + limits.typedAtOnce), (byte) => byte.toString(16));
      const line = `send-keys -t ${this.#pane} -H ${keys.join(' ')}`;
      typed.push(
        new Promise((resolve) =>
          this.#send({ line, answers: 1, done: (answers) => resolve(answers !== undefined) }),
        ),
      );
    }
    return (await Promise.all(typed)).every(Boolean) ? 'typed' : 'unknown';
  }

  close(): void {
    this.#end('It was closed.');
  }

  /** The pane of the agent is the one that Copse's launcher started; a person may have opened others. */
  async #choosePane(lines: readonly Buffer[]): Promise<void> {
    const panes = lines.flatMap((line) => {
      const [, id, pid] = /^(%\d+) (\d+)$/.exec(line.toString('latin1')) ?? [];
      return id === undefined ? [] : [{ id, pid: Number(pid) }];
    });
    const launchers = new Set((await launchersAmong(panes.map(({ pid }) => pid))).map(({ pid }) => pid));
    const pane = panes.find(({ pid }) => launchers.has(pid)) ?? panes[0];
    if (this.#isOver) return;
    if (pane === undefined) return this.#end(ENDED);
    this.#pane = pane.id;
    if (this.#isLookWanted) this.look();
  }

  #send(command: Command): void {
    if (this.#isOver) return command.done(undefined);
    this.#sent.push(command);
    this.#child.stdin?.write(`${command.line}\n`);
    this.#late ??= setTimeout(() => this.#end('tmux does not answer.'), limits.answerMs);
  }

  #take(chunk: Buffer): void {
    if (this.#isOver) return;
    const lines = this.#cutter.take(chunk);
    if (lines === undefined) return this.#end('tmux sent a line that is too long.');
    for (const line of lines) this.#takeLine(line);
  }

  #takeLine(line: Buffer): void {
    const block = this.#block;
    if (block !== null && block.text > 0) {
      block.text -= 1;
      block.lines.push(line);
      return;
    }
    const said = parseControlLine(line);
    switch (said.kind) {
      case 'begin':
        this.#block = { ...said, lines: [], text: said.isOurs ? this.#textLines() : 0 };
        return;
      case 'end':
      case 'error':
        if (said.number === block?.number) this.#takeAnswer(said.kind, block);
        return;
      case 'output':
        if (said.pane === this.#pane) this.#takeOutput(said.bytes);
        return;
      case 'notice':
        // The id of a pane begins as a notice does.
        if (block !== null && /^\d/.test(said.name)) block.lines.push(line);
        else this.#notice(said.name, said.words);
        return;
      case 'text':
        if (block === null) return;
        if (block.lines.length < limits.answerLines) block.lines.push(line);
        if (!block.isOurs) this.#hear(said.bytes.toString('latin1'));
        return;
      default:
        throw new Error(`tmux has no line ${String(said satisfies never)}`);
    }
  }

  #textLines(): number {
    const [command] = this.#sent;
    const isLast = command !== undefined && this.#answers.length === command.answers - 1;
    return isLast ? (command.textLines?.(this.#answers) ?? 0) : 0;
  }

  #takeAnswer(kind: 'end' | 'error', { isOurs, lines }: AnswerBlock): void {
    this.#block = null;
    const [command] = this.#sent;
    if (!isOurs || command === undefined) return;
    // An error ends a sequence: its other commands get no answer.
    if (kind === 'end') this.#answers.push(lines);
    if (kind === 'end' && this.#answers.length < command.answers) return;
    const answers = kind === 'end' ? this.#answers : undefined;
    this.#answers = [];
    this.#sent.shift();
    clearTimeout(this.#late);
    this.#late =
      this.#sent.length === 0
        ? undefined
        : setTimeout(() => this.#end('tmux does not answer.'), limits.answerMs);
    command.done(answers);
  }

  #takeOutput(bytes: Buffer): void {
    this.#events.onOutput(bytes);
    const now = performance.now();
    if (now - this.#window.sinceMs > limits.coalesceMs) this.#window = { sinceMs: now, bytes: 0 };
    this.#window.bytes += bytes.length;
    if (this.#flow !== 'running' || this.#window.bytes < limits.floodBytes) return;
    // No person can read so fast: tmux leaves the rest out, and the agent is not slowed down.
    this.#flow = 'pausing';
    this.#flowCommand('pause', () => {
      this.#flow = 'paused';
      setTimeout(() => this.#goOn(), limits.floodPauseMs).unref();
    });
  }

  #goOn(): void {
    this.#flowCommand('continue', () => {
      this.#flow = 'running';
      this.#events.onGap();
    });
  }

  #flowCommand(verb: 'pause' | 'continue', done: () => void): void {
    const line = `refresh-client -A '${this.#pane}:${verb}'`;
    this.#send({ line, answers: 1, done: (answers) => (answers === undefined ? undefined : done()) });
  }

  #notice(name: string, words: readonly string[]): void {
    if (name === 'session-changed') this.#isAttached = true;
    // tmux itself paused it, because this process was held up.
    if (name === 'pause' && words[0] === this.#pane && this.#flow === 'running') {
      this.#flow = 'paused';
      this.#goOn();
    }
    if (CHANGES.has(name) && this.#pane !== undefined) this.#checkPane(this.#pane);
  }

  /** Whether it is there still, and as large as before. */
  #checkPane(pane: string): void {
    this.#send({
      line: `display-message -p -t ${pane} '#{pane_width} #{pane_height}'`,
      answers: 1,
      done: (answers) => {
        const size = textOf(answers?.[0]);
        if (size === '') this.#end(ENDED);
        else if (this.#size !== '' && size !== this.#size) this.#events.onResize();
      },
    });
  }

  #hear(text: string): void {
    this.#said = `${this.#said}${text}\n`.slice(-limits.saidLength);
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#late);
    for (const command of this.#sent.splice(0)) command.done(undefined);
    this.#child.stdin?.end();
    setTimeout(() => this.#child.kill('SIGKILL'), limits.closeMs).unref();
    this.#events.onEnd(reason);
  }
}

const ENDED = 'Its terminal has ended.';
const CHANGES = new Set(['layout-change', 'window-close', 'unlinked-window-close', 'window-pane-changed']);

function textOf(lines: readonly Buffer[] | undefined): string {
  return lines?.[0]?.toString('latin1') ?? '';
}

function absentText(said: string): string {
  return /unknown flag|usage: /.test(said)
    ? 'tmux 3.2 or newer is needed to show a terminal.'
    : 'There is no terminal: the agent does not run in tmux, or is still starting.';
}
