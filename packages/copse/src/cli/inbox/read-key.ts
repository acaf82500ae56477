/** One key, or one line, of a person at the terminal. */

import { type Readable, Writable } from 'node:stream';

import type { Output } from '../output.ts';

export interface TerminalInput extends Readable {
  setRawMode?(isRaw: boolean): unknown;
}

export const QUIT = 'q';
/** Ctrl+C, or the end of the input: the person wants nothing more to happen. */
export const STOP = 'stop';

/**
 * Undefined when the time is over. Ctrl+D is QUIT. Several characters at once are a paste or an arrow key: they come as one
 * text, so that no part of it counts as an answer.
 */
export async function readKey(input: TerminalInput, forMs: number | null): Promise<string | undefined> {
  if (input.readableEnded || input.destroyed) return STOP;
  input.setRawMode?.(true);
  try {
    return await new Promise<string | undefined>((resolve) => {
      const timer = forMs === null ? undefined : setTimeout(() => end(undefined), forMs);
      const onData = (data: Buffer | string) => end(keyOf(data.toString()));
      const onEnd = () => end(STOP);
      const end = (key: string | undefined) => {
        clearTimeout(timer);
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

function keyOf(text: string): string {
  if (text === CONTROL_C) return STOP;
  return text === '\u0004' ? QUIT : text;
}

const CONTROL_C = '\u0003';

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
  return typed.includes(CONTROL_C) ? STOP : typed;
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
