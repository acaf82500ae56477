/**
 * A world in which nothing happens by itself: time, chance and every process are the seed's.
 *
 * Every call of a port is an action that waits in a queue. The world takes one at a time, by chance, lets it have its effect
 * at once, and then lets the process that asked go on until it asks for something else. Before and after each effect the
 * process may be killed: then the effect never was, or nobody heard of it. A process that is stopped keeps its actions until
 * it is woken; one that is dead never hears an answer again.
 *
 * Nothing here waits for real time, so code under test must not either: all it may await is what the world answers.
 */

import type { Timestamp } from '../../packages/copse/src/kernel/ids.ts';
import type { ProcessIdentity } from '../../packages/copse/src/kernel/process.ts';
import type { Timer } from '../../packages/copse/src/kernel/clock.ts';

type ProcessKind = 'orchestrator' | 'runner' | 'agent' | 'child' | 'person';

/** What is known about a process from outside, as the kernel would know it. */
export interface Process extends ProcessIdentity {
  readonly kind: ProcessKind;
  readonly name: string;
  readonly node: string;
  readonly parent: Process | null;
  /** What it has in its environment: whoever cleans up finds it by that. */
  readonly attempt: string | null;
  readonly session: string | null;
  readonly task: string | null;
  /** The token of the attempt, for runners and agents. */
  readonly token: number;
  readonly folder: string | null;
  /** It does not go when it is asked to. */
  readonly isStubborn: boolean;
  state: 'running' | 'stopped' | 'dead';
  exitCode: number | null;
  /** What being asked to go does; without it, it goes. */
  onTerm: (() => void) | null;
  readonly onExit: (() => void)[];
}

export type NewProcess = Pick<Process, 'kind' | 'name' | 'node'> &
  Partial<Pick<Process, 'parent' | 'attempt' | 'session' | 'task' | 'token' | 'folder' | 'isStubborn'>>;

interface Action {
  readonly process: Process;
  readonly name: string;
  readonly due: number;
  readonly isSleep: boolean;
  readonly effect: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What chance does to the process that is about to act. */
export type Fate = 'none' | 'dies_before' | 'dies_after';

export interface WorldOptions {
  readonly seed: number;
  readonly isTraced: boolean;
  /** Asked before every effect. It may kill, stop or wake any process by itself. */
  readonly fate: (process: Process) => Fate;
  /** It threw what nobody caught. */
  readonly fellOver: (process: Process, error: unknown) => void;
}

const EPOCH = Date.UTC(2026, 0, 1);
const FIRST_PID = 100;
/** Few enough that pids are used again. */
const PIDS = 60;

export class World {
  readonly #options: WorldOptions;
  #state: number;
  #elapsedMs = 0;
  #actions: Action[] = [];
  #starts = 0;
  steps = 0;
  readonly trace: string[] = [];
  readonly processes: Process[] = [];
  readonly #offsets = new Map<string, number>();
  readonly #onDeath: ((process: Process) => void)[] = [];
  /** How much slower everything is right now. */
  slowness = 1;
  /** How much longer orchestrators sleep than they want to; for long waits in which nothing happens. */
  pollStretch = 1;
  /** Whose effect is happening. */
  acting: Process | null = null;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#state = (options.seed * 2_654_435_761 + 1) >>> 0;
  }

  // Mulberry32.
  readonly random = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };

  chance(share: number): boolean {
    return this.random() < share;
  }

  upTo(most: number): number {
    return Math.floor(this.random() * (most + 1));
  }

  pick<T>(from: readonly T[]): T {
    const one = from[Math.floor(this.random() * from.length)];
    if (one === undefined) throw new Error('There is nothing to pick from');
    return one;
  }

  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  jump(node: string, byMs: number): void {
    this.#offsets.set(node, (this.#offsets.get(node) ?? 0) + byMs);
  }

  /** What the clock on a node's wall says. */
  wall(node: string): Timestamp {
    return (EPOCH + Math.floor(this.#elapsedMs) + (this.#offsets.get(node) ?? 0)) as Timestamp;
  }

  clockOf(process: Process): Timer {
    return {
      now: () => this.wall(process.node),
      elapsedMs: () => this.#elapsedMs,
      sleep: (ms, signal) => this.#sleep(process, ms, signal),
    };
  }

  /** One port call: an effect at some later moment, and its answer. */
  call<T>(process: Process, name: string, effect: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const due = this.#elapsedMs + this.#latency();
      this.#add({ process, name, due, isSleep: false, effect, resolve: resolve as never, reject });
    });
  }

  /** Something that happens to a process, such as a signal. */
  post(process: Process, name: string, effect: () => void): void {
    const due = this.#elapsedMs + this.#latency();
    this.#add({ process, name, due, isSleep: false, effect, resolve: () => {}, reject: () => {} });
  }

  spawn(of: NewProcess, delayMs: number, main: (process: Process) => Promise<number>): Process {
    this.#starts += 1;
    const process: Process = {
      parent: null,
      attempt: null,
      session: null,
      task: null,
      token: 0,
      folder: null,
      isStubborn: false,
      ...of,
      pid: this.#freePid(),
      startTime: this.#starts,
      state: 'running',
      exitCode: null,
      onTerm: null,
      onExit: [],
    };
    this.processes.push(process);
    const begin = (): void => {
      main(process).then(
        (code) => this.#exit(process, code),
        (error: unknown) => {
          this.note(
            process,
            `falls over: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
          );
          this.#options.fellOver(process, error);
          this.#exit(process, 1);
        },
      );
    };
    const due = this.#elapsedMs + delayMs;
    this.#add({
      process,
      name: 'begins',
      due,
      isSleep: false,
      effect: begin,
      resolve: () => {},
      reject: () => {},
    });
    return process;
  }

  onDeath(listener: (process: Process) => void): void {
    this.#onDeath.push(listener);
  }

  kill(process: Process, why: string): void {
    if (process.state === 'dead') return;
    this.note(process, `is killed: ${why}`);
    this.#end(process);
  }

  /** It never comes back from this: whatever it did not say was never said. */
  #exit(process: Process, code: number): void {
    if (process.state === 'dead') return;
    process.exitCode = code;
    this.note(process, `ends with ${code}`);
    this.#end(process);
  }

  exit(process: Process, code: number): void {
    this.#exit(process, code);
  }

  #end(process: Process): void {
    process.state = 'dead';
    this.#actions = this.#actions.filter((action) => action.process !== process);
    for (const listener of this.#onDeath) listener(process);
    for (const listener of process.onExit) listener();
  }

  terminate(process: Process): void {
    if (process.state === 'dead' || process.isStubborn) return;
    // A stopped process hears of it when it is woken.
    this.post(process, 'SIGTERM', () => {
      if (process.onTerm === null) this.kill(process, 'SIGTERM');
      else process.onTerm();
    });
  }

  stop(process: Process): void {
    if (process.state !== 'running') return;
    process.state = 'stopped';
    this.note(process, 'is stopped');
  }

  wake(process: Process): void {
    if (process.state !== 'stopped') return;
    process.state = 'running';
    this.note(process, 'goes on');
  }

  alive(where?: (process: Process) => boolean): readonly Process[] {
    return this.processes.filter((one) => one.state !== 'dead' && (where === undefined || where(one)));
  }

  note(process: Process | null, text: string): void {
    if (!this.#options.isTraced) return;
    const who = process === null ? 'world' : `${process.name}(${process.pid})`;
    this.trace.push(`${(this.#elapsedMs / 1_000).toFixed(3).padStart(10)} ${who.padEnd(24)} ${text}`);
  }

  /** Takes one action, or lets time pass until there is one. False when nothing will ever happen again. */
  async step(): Promise<boolean> {
    const action = this.#next();
    if (action === undefined) return false;
    this.steps += 1;
    const { process } = action;
    const fate = action.isSleep ? 'none' : this.#options.fate(process);
    if (fate === 'dies_before') {
      this.kill(process, `before ${action.name}`);
      return true;
    }
    // Fate may have stopped it, or killed everything.
    if (process.state !== 'running') {
      if (process.state === 'stopped') this.#actions.push(action);
      return true;
    }
    const answer = await this.#perform(action);
    if (fate === 'dies_after') {
      this.kill(process, `after ${action.name}`);
      return true;
    }
    if (isDead(process)) return true;
    if (answer.kind === 'done') action.resolve(answer.value);
    else action.reject(answer.error);
    await settled();
    return true;
  }

  async #perform(
    action: Action,
  ): Promise<
    { readonly kind: 'done'; readonly value: unknown } | { readonly kind: 'failed'; readonly error: unknown }
  > {
    this.acting = action.process;
    try {
      const value = action.effect();
      if (!(value instanceof Promise)) {
        if (!action.isSleep) this.note(action.process, action.name);
        return { kind: 'done', value };
      }
      let outcome: { kind: 'done'; value: unknown } | { kind: 'failed'; error: unknown } | undefined;
      value.then(
        (result: unknown) => (outcome = { kind: 'done', value: result }),
        (error: unknown) => (outcome = { kind: 'failed', error }),
      );
      await settled();
      if (outcome === undefined) throw new Error(`${action.name} waits for something outside`);
      this.note(action.process, action.name);
      return outcome;
    } catch (error) {
      this.note(action.process, `${action.name} throws ${String(error)}`);
      return { kind: 'failed', error };
    } finally {
      this.acting = null;
    }
  }

  #next(): Action | undefined {
    const able = this.#actions.filter(({ process }) => process.state === 'running');
    let due = able.filter((action) => action.due <= this.#elapsedMs);
    if (due.length === 0) {
      if (able.length === 0) return undefined;
      const next = Math.min(...able.map((action) => action.due));
      this.#elapsedMs = next;
      due = able.filter((action) => action.due <= next);
    }
    const chosen = this.pick(due);
    this.#actions.splice(this.#actions.indexOf(chosen), 1);
    return chosen;
  }

  #add(action: Action): void {
    if (action.process.state !== 'dead') this.#actions.push(action);
  }

  #sleep(process: Process, ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    const stretch = process.kind === 'orchestrator' && ms >= 1_000 ? this.pollStretch : 1;
    return new Promise<void>((resolve) => {
      const early = (): void => {
        const at = this.#actions.indexOf(action);
        if (at >= 0) this.#actions.splice(at, 1);
        resolve();
      };
      const action: Action = {
        process,
        name: `sleeps ${ms}`,
        due: this.#elapsedMs + ms * stretch,
        isSleep: true,
        effect: () => signal?.removeEventListener('abort', early),
        resolve: () => resolve(),
        reject: () => {},
      };
      signal?.addEventListener('abort', early, { once: true });
      this.#add(action);
    });
  }

  #latency(): number {
    const draw = this.random();
    if (draw < 0.9) return draw * this.slowness;
    return draw < 0.99 ? 20 * this.random() * this.slowness : 400 * this.random() * this.slowness;
  }

  #freePid(): number {
    for (let offset = 0; ; offset += 1) {
      const pid = FIRST_PID + ((this.#starts + offset) % PIDS);
      if (!this.processes.some((one) => one.state !== 'dead' && one.pid === pid)) return pid;
    }
  }
}

/** Its own effect may have been its end. */
function isDead({ state }: Process): boolean {
  return state === 'dead';
}

/** All that could go on has gone on: callbacks of the next tick run when no promise is left to follow. */
function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
