/** One key, or one line, of a person at the terminal. */

import { type Readable, Writable } from 'node:stream';

import type { Output } from '../output.ts';

export interface TerminalInput extends Readable {
  setRawMode?(isRaw: boolean): unknown;
}

export const QUIT = 'q';

/**
 * Undefined when the time is over. Ctrl+C, Ctrl+D and the end of the input are QUIT. Several characters at once are a paste or an
 * arrow key: they come as one text, so that no part of it counts as an answer.
 */
export async function readKey(input: TerminalInput, forMs: number | null): Promise<string | undefined> {
  input.setRawMode?.(true);
  try {
    return await new Promise<string | undefined>((resolve) => {
      const timer = forMs === null ? undefined : setTimeout(() => end(undefined), forMs);
      const onData = (data: Buffer | string) => end(keyOf(data.toString()));
      const onEnd = () => end(QUIT);
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
  return text === '\u0003' || text === '\u0004' ? QUIT : text;
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
