/**
 * A terminal that only shows. A program can ask a terminal who it is, where its cursor is or which colours it has, and the
 * answer arrives as if it were typed: tmux has answered already, and a second answer is input that no person typed. Links and
 * titles of a program lead nowhere. What a person types is told; the page decides what to do with it.
 */

import { type ITheme, Terminal } from '@xterm/xterm';

const SCROLLBACK_ROWS = 2_000;
/** Of AA. */
const CONTRAST = 4.5;

interface QuietOptions {
  readonly theme: ITheme;
  readonly font: string;
  readonly onTyped: (text: string) => void;
}

export function quietTerminal({ theme, font, onTyped }: QuietOptions): Terminal {
  const terminal = new Terminal({
    disableStdin: true,
    scrollback: SCROLLBACK_ROWS,
    minimumContrastRatio: CONTRAST,
    fontFamily: font,
    theme,
    linkHandler: { activate: () => {} },
    // Reading is not typing.
    scrollOnUserInput: true,
  });
  const { parser } = terminal;
  const answered = () => true;
  for (const id of QUESTIONS) parser.registerCsiHandler(id, answered);
  parser.registerDcsHandler({ intermediates: '$', final: 'q' }, answered);
  for (const number of COLOURS) parser.registerOscHandler(number, (data) => data.includes('?'));
  terminal.onData((text) => {
    if (!FOCUS.test(text)) onTyped(text);
  });
  return terminal;
}

/** Device attributes, status reports, modes, the size of the window. */
const QUESTIONS = [
  { final: 'c' },
  { prefix: '>', final: 'c' },
  { prefix: '=', final: 'c' },
  { final: 'n' },
  { prefix: '?', final: 'n' },
  { intermediates: '$', final: 'p' },
  { prefix: '?', intermediates: '$', final: 'p' },
  { prefix: '>', final: 'q' },
  { final: 't' },
] as const;

/** One colour of the palette, text, background, cursor. */
const COLOURS = [4, 10, 11, 12] as const;

/** A program may want to hear of the focus. */
const FOCUS = /^\u001b\[[IO]$/;
