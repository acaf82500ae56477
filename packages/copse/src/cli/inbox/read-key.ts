/** One key, or one line, of a person at the terminal. */

import { type Readable, Writable } from 'node:stream';

import type { Output } from '../output.ts';
import { KeyReader, type PressedKey } from '../screen/keys.ts';

export interface TerminalInput extends Readable {
  setRawMode?(isRaw: boolean): unknown;
}

export const QUIT = 'q';
/** Ctrl+C, or the end of the input: the person wants nothing more to happen. */
export const STOP = 'stop';

/**
 * Undefined when the time is over. Ctrl+D is QUIT. Several characters at once are a paste: they come as one text, so that no
 * part of it counts as an answer.
 */
export async function readKey(input: TerminalInput, forMs: number | null): Promise<string | undefined> {
  if (input.readableEnded || input.destroyed) return STOP;
  input.setRawMode?.(true);
  try {
    return await new Promise<string | undefined>((resolve) => {
      const timer = forMs === null ? undefined : setTimeout(() => end(undefined), forMs);
      const keys = new KeyReader((pressed) => end(textOf(pressed)));
      const onData = (data: Buffer | string) => keys.take(Buffer.from(data));
      const onEnd = () => end(STOP);
      const end = (key: string | undefined) => {
        clearTimeout(timer);
        keys.stop();
        input.off('data', onData).off('end', onEnd).off('close', onEnd);
        input.pause();
        resolve(key);
      };
      input.on('data', onData).once('end', onEnd).once('close', onEnd);
      input.resume();
    });
  } finally {
    input.setRawMode?.(false);
  }
}

function textOf(keys: readonly PressedKey[]): string {
  if (keys.some((key) => isControl(key, 'c'))) return STOP;
  return keys.map((key) => (isControl(key, 'd') ? QUIT : characters(key))).join('');
}

function isControl(key: PressedKey, letter: string): boolean {
  return key.kind === 'control' && key.letter === letter;
}

/** Of keys without a character, a mark that is no answer. */
function characters(key: PressedKey): string {
  if (key.kind === 'char') return key.char;
  if (key.kind === 'paste') return key.text;
  return key.kind === 'enter' ? '\r' : NO_ANSWER;
}

const NO_ANSWER = '\u001b';

/** Enough for what the terminal already holds. */
const EARLY_MS = 10;

/** Takes what was typed so far, which cannot be about what is shown next. Ctrl+C and the end of the input are STOP. */
export async function typedEarly(input: TerminalInput): Promise<string> {
  let typed = '';
  const until = performance.now() + EARLY_MS;
  for (let leftMs = EARLY_MS; leftMs > 0; leftMs = until - performance.now()) {
    const key = await readKey(input, leftMs);
    if (key === STOP) return STOP;
    typed += key ?? '';
  }
  return typed;
}

/** Undefined when the person cancelled (Ctrl+C, Ctrl+D) or entered nothing. */
export async function readLine(
  input: TerminalInput,
  output: Output,
  question: string,
): Promise<string | undefined> {
  const { createInterface } = await import('node:readline');
  const echo = Object.assign(
    new Writable({
      write(chunk: Buffer, _, done) {
        void output.raw(chunk.toString());
        done();
      },
    }),
    { columns: output.columns() },
  );
  const lines = createInterface({ input, output: echo, terminal: true, historySize: 0 });
  const text = await new Promise<string>((resolve) => {
    lines.once('SIGINT', () => resolve(''));
    lines.once('close', () => resolve(''));
    lines.question(`${question} `, resolve);
  });
  lines.close();
  return text.trim() === '' ? undefined : text;
}
