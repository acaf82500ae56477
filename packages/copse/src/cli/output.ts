/** The only writer to stdout and stderr. */

import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

import { splitRemark, stepLines } from '../kernel/shell.ts';
import { shown } from '../kernel/text.ts';
import type { Failure } from '../operations/failure.ts';
import type { Host } from './host.ts';

type Style = Parameters<typeof styleText>[0];

export interface Output {
  /** One line of the result. */
  line(text?: string): void;
  /** Bytes without a line feed: exports, scripts, documents. Resolves when the reader is ready for more. */
  raw(text: string | Uint8Array): Promise<void>;
  /** The one document of a `--json` command. */
  json(document: unknown): void;
  /** A remark, on stderr. */
  note(text: string): void;
  readonly style: (style: Style, text: string) => string;
  /** Whether a person reads the output. */
  readonly isTerminal: boolean;
  /** Replaces the last line of a terminal on stderr, which it must be; an empty text removes the line. */
  progress(text: string): void;
  /** Whether a person reads the remarks. */
  areNotesShown(): boolean;
  /** The current width of the terminal. */
  columns(): number;
  rows(): number;
}

const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

export function openOutput(host: Pick<Host, 'stdout' | 'stderr'>): Output {
  const { stdout } = host;
  // Asked once, because asking the stream for every word is slow.
  const isColoured =
    !stdout.isPlain && styleText('red', 'x', { stream: stdout, validateStream: true }) !== 'x';
  // Lines are written together.
  let waiting = '';
  const flush = () => {
    if (waiting === '') return;
    stdout.write(waiting);
    waiting = '';
  };
  return {
    line(text = '') {
      if (waiting === '') queueMicrotask(flush);
      waiting += `${text}\n`;
    },
    raw: (text) =>
      new Promise((resolve) => {
        // Earlier lines come first.
        flush();
        if (stdout.write(text)) resolve();
        else stdout.once('drain', resolve);
      }),
    json: (document) => void stdout.write(`${asJson(document, 2)}\n`),
    note: (text) => void host.stderr.write(`${text}\n`),
    // Colours only on a terminal, and never with NO_COLOR.
    style: (style, text) => (isColoured ? styleText(style, text, { validateStream: false }) : text),
    isTerminal: stdout.isTTY === true,
    progress: (text) => void host.stderr.write(`\r\u001b[K${text}`),
    areNotesShown: () => (host.stderr as { readonly isTTY?: boolean }).isTTY === true,
    columns: () => sizeOr(stdout.columns, USUAL_COLUMNS),
    rows: () => sizeOr(stdout.rows, USUAL_ROWS),
  };
}

/** A terminal may say 0: a serial line, or a container without a size. */
function sizeOr(told: number | undefined, usual: number): number {
  return told === undefined || told === 0 ? usual : told;
}

/** JSON does not escape DEL and C1 controls, which a terminal may execute. */
export function asJson(document: unknown, indent?: number): string {
  return JSON.stringify(document, null, indent).replaceAll(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The one form of errors: what happened, then what to do. */
export function reportFailure(
  { code, reason, next }: Failure,
  { to: stderr, asJson: isJson }: { readonly to: Writable; readonly asJson: boolean },
): void {
  if (isJson) {
    stderr.write(
      `${asJson({ error: { code, reason, next: next.map((step) => splitRemark(step).command) } })}\n`,
    );
    return;
  }
  const label = (text: string) => styleText('red', text, { stream: stderr, validateStream: true });
  stderr.write(`${label('copse:')} ${cut(shown(reason))}\n`);
  for (const line of next.flatMap(stepLines)) stderr.write(`${cut(shown(line))}\n`);
}

const LONGEST_WORD = 300;

/** A word that fills the screen hides the rest of the message. */
function cut(text: string): string {
  return text.replaceAll(/\S{301,}/g, (word) => `${word.slice(0, LONGEST_WORD)}…`);
}
