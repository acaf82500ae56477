/** Makes text fit into a number of columns. Text without wide characters and escapes, which is nearly all, costs nothing. */

import { widthOfText } from './screen.ts';

const PLAIN = /^[\u0020-\u007e]*$/;

export function columnsOf(text: string): number {
  return PLAIN.test(text) ? text.length : widthOfText(text);
}

/** Cuts between words, or inside a word that is longer than a third of the line. Text with colours is not cut. */
export function cutAtWords(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const room = Math.max(1, columns - 1);
  let width = 0;
  let end = 0;
  for (const [part] of text.matchAll(/\P{M}\p{M}*/gu)) {
    width += columnsOf(part);
    if (width > room) break;
    end += part.length;
  }
  const cut = text.slice(0, end);
  const isBetween = text[end] === ' ' || cut.endsWith(' ');
  const space = cut.lastIndexOf(' ');
  const whole = isBetween || space < end * (2 / 3) ? cut : cut.slice(0, space);
  return `${whole.replace(/[ ,;:.…]+$/, '')}…`;
}
