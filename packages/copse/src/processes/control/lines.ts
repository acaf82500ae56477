/**
 * The lines of tmux's control mode, as bytes. tmux escapes control characters and backslashes of output, so no output ends
 * a line. The lines of a captured screen are not escaped: an agent can write `%end …` on its screen. So the reader
 * knows how many lines a screen has, and takes exactly these as they are.
 */

export type ControlLine =
  | { readonly kind: 'output'; readonly pane: string; readonly bytes: Buffer }
  | { readonly kind: 'begin' | 'end' | 'error'; readonly number: string; readonly isOurs: boolean }
  | { readonly kind: 'notice'; readonly name: string; readonly words: readonly string[] }
  | { readonly kind: 'text'; readonly bytes: Buffer };

/** Cuts what comes into lines. A line that is longer than `mostBytes` is an error of the sender. */
export class LineCutter {
  readonly #mostBytes: number;
  #parts: Buffer[] = [];
  #held = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Undefined: a line is too long. */
  take(chunk: Buffer): readonly Buffer[] | undefined {
    const lines: Buffer[] = [];
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, from);
      if (end === -1) break;
      lines.push(this.#joined(chunk.subarray(from, end)));
      from = end + 1;
    }
    const rest = chunk.subarray(from);
    this.#held += rest.length;
    if (this.#held > this.#mostBytes || lines.some(({ length }) => length > this.#mostBytes))
      return undefined;
    if (rest.length > 0) this.#parts.push(rest);
    return lines;
  }

  #joined(last: Buffer): Buffer {
    if (this.#parts.length === 0) return last;
    const line = Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    this.#held = 0;
    return line;
  }
}

const LINE_FEED = 0x0a;

export function parseControlLine(line: Buffer): ControlLine {
  if (line[0] !== PERCENT) return { kind: 'text', bytes: line };
  // Only ASCII is looked for, and one byte is one character of latin1.
  const text = line.toString('latin1');
  const output = /^%(?:output (%\d+) |extended-output (%\d+) [^:]*: )/.exec(text);
  if (output !== null)
    return {
      kind: 'output',
      pane: output[1] ?? output[2] ?? '',
      bytes: unescaped(line.subarray(output[0].length)),
    };
  const guard = /^%(begin|end|error) (\d+) (\d+) (\d+)$/.exec(text);
  if (guard !== null) {
    const [, kind, , number = '', flags] = guard;
    return { kind: kind as 'begin', number, isOurs: (Number(flags) & 1) === 1 };
  }
  const [name = '', ...words] = text.slice(1).split(' ');
  return { kind: 'notice', name, words };
}

const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const ZERO = 0x30;

/** `\ooo` is a byte; a backslash that begins no such escape stays as it is. */
export function unescaped(bytes: Buffer): Buffer {
  if (!bytes.includes(BACKSLASH)) return bytes;
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const value = bytes[at] === BACKSLASH ? octal(bytes, at + 1) : undefined;
    out[length] = value ?? bytes[at] ?? 0;
    length += 1;
    if (value !== undefined) at += 3;
  }
  return out.subarray(0, length);
}

function octal(bytes: Buffer, at: number): number | undefined {
  const digits = [bytes[at], bytes[at + 1], bytes[at + 2]].map((byte) => (byte ?? 0) - ZERO);
  if (!digits.every((digit) => digit >= 0 && digit <= 7)) return undefined;
  const [first = 0, second = 0, third = 0] = digits;
  const value = first * 64 + second * 8 + third;
  return value > 255 ? undefined : value;
}
