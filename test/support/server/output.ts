/** Tasks whose agents run in terminals of a tmux of the test's own, and pages that show them over a WebSocket. */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, afterEach } from 'vitest';
import { WebSocket } from 'ws';

import { nodeHere, requireRepository } from '../../../packages/copse/src/compose/open.ts';
import {
  type AttemptId,
  type SessionId,
  type TaskId,
  brand,
  fencingToken,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { copse, newRepository, plainEnv } from '../cli.ts';
import { oneOfEach, tell } from '../records/stories.ts';
import { until } from '../records/turns.ts';
import { serveRepository } from './served-repository.ts';
import { type Served, ticketOf } from './served.ts';

export const hasTmux = spawnSync('tmux', ['-V']).status === 0;

/** The server of the test and all that it starts use this tmux, which ends with the file. */
export class OwnTmux {
  /** For the environment of a program. */
  readonly folder: string;
  readonly #before = process.env['TMUX_TMPDIR'];

  constructor(area: string, ends: 'after each test' | 'after all' = 'after each test') {
    this.folder = path.join(area, 'tmux');
    mkdirSync(this.folder, { recursive: true });
    process.env['TMUX_TMPDIR'] = this.folder;
    const end = () => void spawnSync('tmux', ['kill-server'], { env: this.#env() });
    if (ends === 'after each test') afterEach(end);
    afterAll(() => {
      end();
      if (this.#before === undefined) delete process.env['TMUX_TMPDIR'];
      else process.env['TMUX_TMPDIR'] = this.#before;
    });
  }

  run(...argv: readonly string[]): string {
    for (let tries = 1; ; tries += 1) {
      try {
        return execFileSync('tmux', ['-u', '-f', '/dev/null', ...argv], {
          env: this.#env(),
          encoding: 'utf8',
          stdio: 'pipe',
        });
      } catch (error) {
        // The server of the test before is just ending.
        if (tries === 5 || !/server exited|lost server/.test(String(error))) throw error;
      }
    }
  }

  /** Runs the shell line as the agent of the task would run. */
  start(task: string, line: string, [columns, rows] = [80, 24]): void {
    const size = ['-x', String(columns), '-y', String(rows)];
    this.run('new-session', '-d', '-s', `copse-${task}`, ...size, 'sh', '-c', line);
  }

  screen(task: string): string {
    return this.run('capture-pane', '-p', '-t', `copse-${task}:`);
  }

  /** The processes of tmux that look at the terminal without being one. */
  controlClients(task: string): number {
    const lines = this.run('list-clients', '-F', '#{client_control_mode} #{client_session}').split('\n');
    return lines.filter((line) => line === `1 copse-${task}`).length;
  }

  #env() {
    const { TMUX: _, ...env } = process.env;
    return { ...env, LANG: 'C.UTF-8' };
  }
}

export interface Scene {
  readonly cwd: string;
  readonly served: Served;
}

/** A repository with a running task cp-aaaa on this machine, and its server; by its copse.yml, agents are in tmux or not. */
export async function newScene(
  area: string,
  limits: Parameters<typeof serveRepository>[2] = {},
  { isInTerminal = false } = {},
): Promise<Scene & AsyncDisposable> {
  const cwd = newRepository(area);
  const agents = { claude: { command: ['true'], terminal: 'tmux' } };
  if (isInTerminal) writeFileSync(path.join(cwd, 'copse.yml'), JSON.stringify({ agents }));
  await copse(['list'], { cwd });
  await tellRunning(cwd, 'aaaa');
  const served = await serveRepository(cwd, { USER: 'anna' }, limits);
  await served.board.renewLease(brand<TaskId>(TASK), fencingToken(1), timestamp(Date.now()));
  return { cwd, served, [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() };
}

export const TASK = 'cp-aaaa';

/** A task with this id whose agent works on this machine. */
export async function tellRunning(cwd: string, id: string): Promise<void> {
  const [running] = oneOfEach;
  if (running === undefined) throw new Error('There is no story');
  await tell(cwd, [{ ...running, id }], { node: nodeHere(requireRepository({ cwd, env: plainEnv })) });
}

const PATIENCE_MS = 30_000;

/** As when a person pauses the task. */
export async function endAgent({ served }: Scene): Promise<void> {
  const at = timestamp(Date.now());
  const [task, session] = [brand<TaskId>(TASK), brand<SessionId>('se-aaaa')];
  await served.board.transact((change) =>
    change.record({ kind: 'person', name: 'anna' }, [
      { type: 'session.interrupted', id: session, at, because: 'paused' },
      { type: 'attempt.ended', id: brand<AttemptId>('at-aaaa'), at, reason: 'paused', exitCode: null },
      { type: 'task.paused', id: task, at },
    ]),
  );
}

interface TextFrame {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** Keeps what it is told, and checks that offsets follow each other unless a gap or a screen was told. */
export class Page {
  readonly told: TextFrame[] = [];
  /** Of the stream that it shows. */
  #pieces: Buffer[] = [];
  stream: string | null = null;
  /** The next offset that it expects. */
  at = 0;
  jumps = 0;
  closed: { readonly code: number; readonly reason: string } | undefined;
  readonly socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('close', (code, reason) => (this.closed = { code, reason: reason.toString() }));
    socket.on('message', (data: Buffer, isBinary) =>
      isBinary ? this.#takeOutput(data) : this.#take(JSON.parse(data.toString()) as TextFrame),
    );
  }

  static async open(
    served: Pick<Served, 'port'> & { readonly server: { readonly keys: { readonly token: string } } },
    query: string,
    task = TASK,
  ): Promise<Page> {
    const address = `ws://127.0.0.1:${served.port}/api/v1/tasks/${task}/output`;
    const page = new Page(new WebSocket(`${address}?ticket=${await ticketOf(served as Served)}${query}`));
    await new Promise((resolve, reject) => {
      page.socket.once('open', resolve);
      page.socket.once('error', reject);
    });
    return page;
  }

  get output(): Buffer {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0] ?? Buffer.alloc(0);
  }

  get text(): string {
    return this.output.toString();
  }

  /** As it was told last. */
  get screen(): string {
    const screen = this.told.findLast(({ kind }) => kind === 'screen');
    return Buffer.from((screen?.['drawing'] as string | undefined) ?? '', 'base64').toString();
  }

  of(kind: string): readonly TextFrame[] {
    return this.told.filter((one) => one.kind === kind);
  }

  async until(isSo: (page: this) => boolean): Promise<this> {
    const lastMs = performance.now() + PATIENCE_MS;
    await until(() => isSo(this) || performance.now() > lastMs);
    if (!isSo(this)) throw new Error(`It did not come about: ${this.#summary()}`);
    return this;
  }

  /** The screen and what came after it. */
  get shown(): string {
    return this.screen + this.text;
  }

  /** Whether this came last, without looking at all of the output. */
  endsWith(text: string): boolean {
    const last = this.#pieces.slice(-2).map((piece) => piece.subarray(-100));
    return Buffer.concat(last).toString().includes(text) || this.screen.includes(text);
  }

  #summary(): string {
    return JSON.stringify([this.told, this.text, this.closed]).slice(0, 2_000);
  }

  /** What the server answered to this input. */
  async type(text: string, id = this.told.length + 1): Promise<TextFrame> {
    this.socket.send(JSON.stringify({ kind: 'type', id, text }));
    const answer = () => this.told.find((one) => ['typed', 'refused'].includes(one.kind) && one['id'] === id);
    await until(() => answer() !== undefined);
    return answer() ?? { kind: 'none' };
  }

  async leave(): Promise<void> {
    this.socket.close();
    await until(() => this.closed !== undefined);
  }

  #take(frame: TextFrame): void {
    this.told.push(frame);
    if (frame.kind !== 'screen' && frame.kind !== 'opened') return;
    this.stream = frame['stream'] as string | null;
    this.at = frame['at'] as number;
    if (frame.kind === 'screen') this.#pieces = [];
  }

  #takeOutput(frame: Buffer): void {
    const at = Number(frame.readBigUInt64BE());
    const last = this.told.at(-1);
    const isTold = last?.kind === 'gap' && (last['to'] === at || last['to'] === null);
    if (at !== this.at && !isTold) this.jumps += 1;
    const bytes = frame.subarray(8);
    this.#pieces.push(bytes);
    this.at = at + bytes.length;
  }
}
