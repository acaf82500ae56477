/**
 * Bytes of a terminal in raw mode as keys. A character or a sequence may be split over several chunks, so the parser keeps
 * an unfinished rest. A lone Escape looks like the beginning of a sequence: `flush`, called when no more bytes come, decides.
 */

import { StringDecoder } from 'node:string_decoder';

export type PressedKey =
  /** One character that a person typed, with its combining marks. */
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'paste'; readonly text: string }
  /** Ctrl and a small letter. */
  | { readonly kind: 'control'; readonly letter: string }
  | { readonly kind: NamedKey };

type NamedKey =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'page-up'
  | 'page-down'
  | 'home'
  | 'end'
  | 'enter'
  | 'tab'
  | 'backspace'
  | 'delete'
  | 'escape';

const ESCAPE = '\u001b';
const PASTE_BEGIN = `${ESCAPE}[200~`;
const PASTE_END = `${ESCAPE}[201~`;
/** A paste without an end is cut, so that it cannot fill the memory. */
const LONGEST_PASTE = 100_000;

/** By the last character of CSI and SS3 sequences without a number. */
const letters: Readonly<Record<string, NamedKey>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  Z: 'tab',
  M: 'enter',
};

const numbers: Readonly<Record<string, NamedKey>> = {
  1: 'home',
  3: 'delete',
  4: 'end',
  5: 'page-up',
  6: 'page-down',
  7: 'home',
  8: 'end',
};

export class KeyParser {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #paste: string | undefined;

  /** Whether bytes wait for more. */
  get isUnfinished(): boolean {
    return this.#rest !== '';
  }

  feed(bytes: Uint8Array): readonly PressedKey[] {
    this.#rest += this.#decoder.write(Buffer.from(bytes));
    return this.#parse(false);
  }

  /** No more bytes come for now: what waits is taken as it is. */
  flush(): readonly PressedKey[] {
    return this.#parse(true);
  }

  #parse(isAll: boolean): readonly PressedKey[] {
    const keys: PressedKey[] = [];
    while (this.#rest !== '') {
      const isTaken = this.#paste === undefined ? this.#takeKey(keys, isAll) : this.#takePaste(keys);
      if (!isTaken) break;
    }
    return keys;
  }

  #takeKey(keys: PressedKey[], isAll: boolean): boolean {
    const text = this.#rest;
    if (text.startsWith(PASTE_BEGIN)) {
      this.#rest = text.slice(PASTE_BEGIN.length);
      this.#paste = '';
      return true;
    }
    if (text.startsWith(ESCAPE)) return this.#takeSequence(keys, isAll);
    const [char = ''] = /^\P{M}\p{M}*/u.exec(text) ?? [text[0] ?? ''];
    this.#rest = text.slice(char.length);
    const key = keyOf(char);
    if (key !== undefined) keys.push(key);
    return true;
  }

  #takeSequence(keys: PressedKey[], isAll: boolean): boolean {
    const text = this.#rest;
    const [sequence, numbersBefore = '', last = ''] =
      /^\u001b\[([\d;:<=>?]*)[ -/]*([@-~])/.exec(text) ?? /^\u001bO()([@-~])/.exec(text) ?? [];
    if (sequence !== undefined) {
      this.#rest = text.slice(sequence.length);
      const [number = ''] = numbersBefore.split(/[;:]/);
      const kind = last === '~' ? numbers[number] : letters[last];
      if (kind !== undefined) keys.push({ kind });
      return true;
    }
    const isPart = text === ESCAPE || /^\u001b(O|\[[ -?]*)$/.test(text);
    if (isPart && !isAll) return false;
    // Alt and a letter, two Escapes, or a sequence that never ended: the Escape counts, the rest is read again.
    this.#rest = isPart ? '' : text.slice(1);
    keys.push({ kind: 'escape' });
    return true;
  }

  #takePaste(keys: PressedKey[]): boolean {
    const end = this.#rest.indexOf(PASTE_END);
    if (end === -1) {
      // The beginning of the end may be there already.
      const kept = partOf(PASTE_END, this.#rest);
      this.#paste += this.#rest.slice(0, this.#rest.length - kept);
      this.#rest = this.#rest.slice(this.#rest.length - kept);
      this.#paste = this.#paste?.slice(0, LONGEST_PASTE);
      return false;
    }
    keys.push({ kind: 'paste', text: `${this.#paste}${this.#rest.slice(0, end)}`.slice(0, LONGEST_PASTE) });
    this.#rest = this.#rest.slice(end + PASTE_END.length);
    this.#paste = undefined;
    return true;
  }
}

/** A person cannot type a key of one byte after Escape so soon; a slow line brings the rest of a sequence within it. */
const ESCAPE_MS = 60;

/** Bytes as they come; the keys as soon as it is certain which they are. */
export class KeyReader {
  readonly #parser = new KeyParser();
  readonly #onKeys: (keys: readonly PressedKey[]) => void;
  #waiting: NodeJS.Timeout | undefined;

  constructor(onKeys: (keys: readonly PressedKey[]) => void) {
    this.#onKeys = onKeys;
  }

  take(bytes: Uint8Array): void {
    this.stop();
    this.#tell(this.#parser.feed(bytes));
    if (this.#parser.isUnfinished)
      this.#waiting = setTimeout(() => this.#tell(this.#parser.flush()), ESCAPE_MS);
  }

  /** What is unfinished is not told any more. */
  stop(): void {
    clearTimeout(this.#waiting);
  }

  #tell(keys: readonly PressedKey[]): void {
    if (keys.length > 0) this.#onKeys(keys);
  }
}

/** How many characters at the end of `text` are the beginning of `whole`. */
function partOf(whole: string, text: string): number {
  for (let length = Math.min(whole.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(whole.slice(0, length))) return length;
  return 0;
}

/** Ends a view that only shows. */
export function isQuit(key: PressedKey): boolean {
  return (key.kind === 'char' && key.char === 'q') || (key.kind === 'control' && key.letter === 'c');
}

export function isSuspend(key: PressedKey): boolean {
  return key.kind === 'control' && key.letter === 'z';
}

function keyOf(char: string): PressedKey | undefined {
  if (char === '\r' || char === '\n') return { kind: 'enter' };
  if (char === '\t') return { kind: 'tab' };
  if (char === '\u007f' || char === '\b') return { kind: 'backspace' };
  const code = char.charCodeAt(0);
  if (code < 0x20) {
    const isLetter = code >= 1 && code <= 26;
    return isLetter ? { kind: 'control', letter: String.fromCharCode(code + 0x60) } : undefined;
  }
  // C1 controls do not come from a keyboard.
  return code >= 0x80 && code < 0xa0 ? undefined : { kind: 'char', char };
}
