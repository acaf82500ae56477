/**
 * The lines of a log as the page shows them: harmless, bounded, and in blocks that do not change any more once they are full,
 * so that a new line costs the page one block.
 */

import { shown } from '../../../../../copse/src/kernel/text.ts';

export interface LogBlock {
  readonly key: number;
  readonly kind: 'lines' | 'gap';
  readonly text: string;
}

const BLOCK_LINES = 100;
/** More stays in the file. */
const MOST_LINES = 5_000;
const LONGEST_LINE = 4_000;

interface Block extends LogBlock {
  readonly lines: number;
}

export class LogText {
  #decoder = new TextDecoder();
  #blocks: readonly Block[] = [];
  #lines = 0;
  #isCut = false;
  #keys = 0;
  /** The beginning of the line that has not ended yet, and how long all of it is. */
  #open = { text: '', length: 0 };

  get blocks(): readonly LogBlock[] {
    if (this.#open.length === 0) return this.#blocks;
    return [...this.#blocks, { key: -1, kind: 'lines', text: lineText(this.#open) }];
  }

  /** Whether lines at its beginning were forgotten. */
  get isCut(): boolean {
    return this.#isCut;
  }

  add(bytes: Uint8Array): void {
    const [first = '', ...others] = this.#decoder.decode(bytes, { stream: true }).split('\n');
    this.#grow(first);
    const ended: string[] = [];
    for (const text of others) {
      ended.push(lineText(this.#open));
      this.#open = { text: '', length: 0 };
      this.#grow(text);
    }
    for (let from = 0; from < ended.length;) from += this.#addTo(ended.slice(from, from + BLOCK_LINES));
    this.#forget();
  }

  addGap(text: string): void {
    // Half a character, and half a line, end here.
    this.#decoder = new TextDecoder();
    if (this.#open.length > 0) this.#addTo([lineText(this.#open)]);
    this.#open = { text: '', length: 0 };
    this.#push({ kind: 'gap', text, lines: 1 });
    this.#forget();
  }

  #grow(text: string): void {
    const room = Math.max(0, LONGEST_LINE - this.#open.text.length);
    this.#open = { text: this.#open.text + text.slice(0, room), length: this.#open.length + text.length };
  }

  /** As many as the last block has room for; how many that were. */
  #addTo(lines: readonly string[]): number {
    const last = this.#blocks.at(-1);
    if (last?.kind !== 'lines' || last.lines >= BLOCK_LINES) {
      this.#push({ kind: 'lines', text: lines.join('\n'), lines: lines.length });
      return lines.length;
    }
    const taken = lines.slice(0, BLOCK_LINES - last.lines);
    const text = [last.text, ...taken].join('\n');
    this.#blocks = [...this.#blocks.slice(0, -1), { ...last, text, lines: last.lines + taken.length }];
    this.#lines += taken.length;
    return taken.length;
  }

  #push(block: Omit<Block, 'key'>): void {
    this.#keys += 1;
    this.#blocks = [...this.#blocks, { ...block, key: this.#keys }];
    this.#lines += block.lines;
  }

  #forget(): void {
    let first = 0;
    let left = this.#lines;
    for (const { lines } of this.#blocks) {
      if (left - lines < MOST_LINES) break;
      left -= lines;
      first += 1;
    }
    if (first === 0) return;
    this.#blocks = this.#blocks.slice(first);
    this.#lines = left;
    this.#isCut = true;
  }
}

/** The carriage return before a line feed says nothing. */
function lineText({ text, length }: { readonly text: string; readonly length: number }): string {
  if (length > text.length) return `${shown(text)} … (${length - text.length} more characters)`;
  return shown(text.replace(/\r$/, ''));
}
