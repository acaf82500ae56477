/**
 * A program of Copse that runs beside another and ends with it. The channel between both closes when the starter ends, also
 * when it is killed; the program then ends.
 */

import { type ChildProcess, spawn } from 'node:child_process';

/** Set for the program, which has a channel to its starter. */
const BESIDE = 'COPSE_BESIDE';

export interface Beside {
  readonly ready: Promise<BesideReady>;
  readonly ended: Promise<void>;
  end(): Promise<void>;
}

type BesideReady =
  | { readonly kind: 'ready'; readonly lines: readonly string[] }
  | { readonly kind: 'ended'; readonly lastLine: string };

export function startBeside(
  argv: readonly string[],
  {
    cwd,
    env,
    onLine,
  }: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    /** A line that it wrote after it was ready. */
    readonly onLine: (text: string) => void;
  },
): Beside {
  const child = spawn(process.execPath, [...argv], {
    cwd,
    env: { ...env, [BESIDE]: '1' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let isReady = false;
  let lastLine = '';
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      lastLine = error.message;
      resolve();
    });
    child.once('exit', () => resolve());
  });
  onLines(child, (text) => {
    lastLine = text;
    if (isReady) onLine(text);
  });
  const said = new Promise<BesideReady>((resolve) => {
    child.once('message', (message) => {
      isReady = true;
      resolve({ kind: 'ready', lines: Array.isArray(message) ? message.map(String) : [] });
    });
    // Its last line may come after its exit.
    const isSilent = new Promise((silent) => child.stderr?.once('close', silent));
    void Promise.all([ended, isSilent]).then(() => resolve({ kind: 'ended', lastLine }));
  });
  return {
    ready: said,
    ended,
    async end() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** The process that started this one beside itself. */
export interface Starter {
  /** Says that this program is ready. */
  tell(lines: readonly string[]): void;
  /** The starter ended. */
  onGone(stop: () => void): void;
}

export function starterOf(env: Readonly<Record<string, string | undefined>>): Starter | undefined {
  if (env[BESIDE] === undefined || process.send === undefined) return undefined;
  return {
    tell: (lines) => void process.send?.(lines),
    onGone(stop) {
      process.once('disconnect', stop);
      if (!process.connected) stop();
    },
  };
}

function onLines(child: ChildProcess, tell: (text: string) => void): void {
  let rest = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, LONGEST);
    for (const line of lines) if (line !== '') tell(line.slice(0, LONGEST));
  });
}

const LONGEST = 2_000;
