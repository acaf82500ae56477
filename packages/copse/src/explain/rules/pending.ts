/** What is said of changed files that decide what Copse runs, until a person has accepted them. */

import { named } from '../../kernel/text.ts';

interface PendingFile {
  readonly name: string;
  readonly before: string | null;
  /** Null: it was deleted. */
  readonly now: string | null;
  /** Why it cannot be accepted as it is. */
  readonly problem: string | null;
}

/** Null when everything is accepted. */
export function pendingText({ changes }: { readonly changes: readonly PendingFile[] }): string | null {
  if (changes.length === 0) return null;
  const names = named(changes.map(({ name }) => name));
  const broken = changes.find(({ problem }) => problem !== null);
  if (broken?.problem != null) {
    // A mistake in copse.yml begins with its place.
    const isPlaced = broken.problem.startsWith(`${broken.name}:`);
    return `${isPlaced ? '' : `${broken.name} cannot be used: `}${broken.problem}\nCopse still uses the accepted version. Correct the file, then accept it.`;
  }
  if (changes.every(({ before }) => before === null))
    return `${names} ${changes.length === 1 ? 'is' : 'are'} new; Copse does not use ${changes.length === 1 ? 'it' : 'them'} yet.`;
  if (changes.every(({ now }) => now === null))
    return `${names} ${changes.length === 1 ? 'was' : 'were'} deleted; Copse still uses the accepted version.`;
  return `${names} changed; Copse still uses the accepted version.`;
}

/** Shows the change and asks. A file with a mistake is refused until it is corrected. */
export const PENDING_REMEDY = 'copse config accept';
