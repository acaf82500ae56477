/** Next commands have `"…"` where a person writes a text of their own. Pasted as it is, it is no answer and no title. */

import { fail } from '../../operations/failure.ts';

const PLACEHOLDER = '…';

/** What stands for the text, by the name of the option. */
const meant: Readonly<Record<string, string>> = {
  answer: 'your answer',
  command: 'the command of your agent',
  message: 'your message',
  reason: 'your reason',
  sendBack: 'your comment',
};

/** An empty command, of a shell variable that is not set, would be an agent that does nothing. */
export function refusePlaceholders(
  path: string,
  words: readonly string[],
  options: Readonly<Record<string, unknown>>,
): void {
  if (typeof options['command'] === 'string' && options['command'].trim() === '')
    fail('invalid', '--command is empty: write the command of your agent.', `copse ${path} --help`);
  const isOnlyPlaceholder = (value: unknown) => typeof value === 'string' && value.trim() === PLACEHOLDER;
  const [option] = Object.entries(options).find(([, value]) => isOnlyPlaceholder(value)) ?? [];
  const isText = words.length > 0 && isOnlyPlaceholder(words.at(-1)) && words.length <= textAt(path);
  if (option === undefined && !isText) return;
  const by = (option === undefined ? undefined : meant[option]) ?? 'your text';
  fail('invalid', `Replace … with ${by}.`, `copse ${path} --help`);
}

/** Which word is the text: of `copse add`, all of them are; of `copse ledger add`, the second. */
function textAt(path: string): number {
  return path === 'ledger add' ? 2 : 1;
}
