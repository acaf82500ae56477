/** Understands what a reaper tells (reaper.ts), in the process that started it. */

export interface ReaperTold {
  started(pid: number): void;
  /** The program could not be started: the error code of the system, ENOENT for example. */
  failed(code: string, errno: number): void;
  /** One of the two is null. */
  ended(code: number | null, signal: string | null): void;
}

interface Names {
  readonly errno: Readonly<Record<string, number>>;
  readonly signals: Readonly<Record<string, number>>;
}

/** Takes the text as it comes. The launcher in a pane of tmux has it as text, so it uses nothing outside of itself. */
export function hearReaper({ errno, signals }: Names, told: ReaperTold): (text: string) => void {
  const nameOf = (names: Readonly<Record<string, number>>, number: number) =>
    Object.keys(names).find((name) => names[name] === number);
  let begun = '';
  return (text) => {
    const lines = (begun + text).split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) {
      const [word, digits] = line.split(' ');
      const number = Number(digits);
      // As wait(2) has it.
      const signal = number & 127;
      if (word === 'started') told.started(number);
      else if (word === 'error') told.failed(nameOf(errno, number) ?? 'EUNKNOWN', number);
      else if (word === 'ended' && signal === 0) told.ended(number >> 8, null);
      else if (word === 'ended') told.ended(null, nameOf(signals, signal) ?? 'SIGKILL');
    }
  };
}
