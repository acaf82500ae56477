/** Programs that try to outlive the one that started them, and how to see whether they do. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { listPids } from '../../../packages/copse/src/processes/identity.ts';

/**
 * Starts both and ends. One wiped its environment and left its parents and its session; the other does the same and forbids
 * all users but root to look into it (PR_SET_DUMPABLE). `$1` names the socket of the agent for keys, `$2` is how long one sleeps.
 */
const HIDE = `cd /
(setsid env -i /bin/sh -c 'sleep "$0" & exec sleep "$0"' "$2" < /dev/null > /dev/null 2>&1 &)
env -i /usr/bin/ssh-agent -a "$1" < /dev/null > /dev/null 2>&1
until test -S "$1"; do sleep 0.01; done
: > "$1.ran"
`;

/** For one caller: its line for the shell, and what of it still runs. */
export class Hiders {
  readonly line: string;
  readonly #words: Readonly<Record<string, string>>;

  constructor(folder: string, caller: string) {
    const script = path.join(folder, 'hide.sh');
    writeFileSync(script, HIDE);
    hiders += 1;
    const socket = path.join(folder, caller);
    const seconds = String(2_000_000 + process.pid * 100 + hiders);
    this.line = `sh '${script}' '${socket}' ${seconds}`;
    this.#words = { wiped: seconds, 'ssh-agent': socket };
  }

  get left(): readonly string[] {
    return Object.keys(this.#words).filter((name) => running(this.#words[name] ?? '').length > 0);
  }

  end(): void {
    for (const pid of Object.values(this.#words).flatMap(running)) process.kill(pid, 'SIGKILL');
  }
}

let hiders = 0;

/** Processes whose command line has the word. */
export function running(word: string): readonly number[] {
  return listPids().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word);
    } catch {
      return false;
    }
  });
}
