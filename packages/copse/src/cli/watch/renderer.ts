/**
 * Frames as bytes for the terminal: only lines that changed are written, each at its place, and nothing when nothing changed.
 * A terminal that knows synchronized output (CSI ? 2026) shows a frame whole; the others ignore the sequence.
 */

import { cut, widthOfText } from '../screen/screen.ts';

export interface Frame {
  readonly lines: readonly string[];
  /** Where a person types; null hides the cursor. */
  readonly cursor: { readonly row: number; readonly column: number } | null;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

const CSI = '\u001b[';
const SYNC_BEGIN = `${CSI}?2026h`;
const SYNC_END = `${CSI}?2026l`;
const SHOW_CURSOR = `${CSI}?25h`;
const HIDE_CURSOR = `${CSI}?25l`;
const CLEAR = `${CSI}0m${CSI}2J`;
const CLEAR_TO_END = `${CSI}0m${CSI}K`;

export class Renderer {
  #shown: readonly string[] | undefined;
  #size: ScreenSize | undefined;
  #cursor: Frame['cursor'] = null;

  /** The bytes that turn the last frame into this one; empty when they are the same. */
  render({ lines, cursor }: Frame, size: ScreenSize): string {
    const isSame = this.#size?.columns === size.columns && this.#size.rows === size.rows;
    const before = isSame ? this.#shown : undefined;
    const now = Array.from({ length: size.rows }, (_, row) => cut(lines[row] ?? '', size.columns));
    const changed = now.flatMap((line, row) =>
      (before?.[row] ?? '') === line ? [] : [`${CSI}${row + 1};1H${line}${afterLine(line, size)}`],
    );
    const isMoved = cursor?.row !== this.#cursor?.row || cursor?.column !== this.#cursor?.column;
    const isFirst = before === undefined;
    this.#shown = now;
    this.#size = size;
    this.#cursor = cursor;
    if (!isFirst && changed.length === 0 && !isMoved) return '';
    const at = cursor === null ? '' : `${CSI}${cursor.row + 1};${cursor.column + 1}H${SHOW_CURSOR}`;
    return `${SYNC_BEGIN}${HIDE_CURSOR}${isFirst ? CLEAR : ''}${changed.join('')}${at}${SYNC_END}`;
  }

  /** Another program wrote on the screen: the next frame is written whole. */
  forget(): void {
    this.#shown = undefined;
  }
}

/** Behind a full line the cursor is still on its last character, which erasing to the end would take away. */
function afterLine(line: string, { columns }: ScreenSize): string {
  return widthOfText(line) < columns ? CLEAR_TO_END : `${CSI}0m`;
}
