/** How the line of an event looks on a terminal. */

import type { BoardReader } from '../../board/port.ts';
import type { BoardEvent } from '../../board/rules/event.ts';
import { type Tone, describeEvent } from '../../explain/events.ts';
import { shown } from '../../kernel/text.ts';
import type { Output } from '../output.ts';

const styles: Readonly<Record<Tone, Parameters<Output['style']>[0]>> = {
  plain: 'reset',
  progress: 'cyan',
  good: 'green',
  waiting: 'yellow',
  bad: 'red',
  faint: 'dim',
};

/** As wide as the longest word. */
const WORD_WIDTH = 11;

export async function eventLine(
  event: BoardEvent,
  board: BoardReader,
  output: Output,
): Promise<string | undefined> {
  const line = await describeEvent(event, board);
  if (line === undefined) return undefined;
  const { word, tone, task, text } = line;
  const about = task === null ? '' : `${task} `;
  return `${output.style(styles[tone], word.padEnd(WORD_WIDTH))} ${about}${shown(text)}`.trimEnd();
}
