/** What git ignores, in words. */

import { shown } from '../../kernel/text.ts';
import type { Ignored } from '../../git/port.ts';

/** Undefined when there is nothing to say. */
export function ignoredWords(ignored: Ignored | undefined): string | undefined {
  if (ignored === undefined) return 'what git ignores, which could not be listed';
  const { count, first } = ignored;
  if (count === 0) return undefined;
  const names = first.map(shown).join(', ');
  return count > first.length ? `${names} and ${count - first.length} more` : names;
}
