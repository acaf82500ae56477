/** What keeps the keyboard safe when a part of the page goes that has the focus, and shows the commands of buttons. Loaded after the first page. */

import { showCommands } from './command-hint.ts';
import { keepFocus } from './kept-focus.ts';
import { guardRestOfText } from './rest-of-text.ts';

/** Returns what ends it. */
export function keepKeyboard(): () => void {
  const ends = [keepFocus(), guardRestOfText(), showCommands()];
  return () => {
    for (const end of ends) end();
  };
}
