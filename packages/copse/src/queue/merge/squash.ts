/** The author and the message of the one commit that a squash makes. */

import { type Commit, asBytes, oneLine, readable, subjectOf } from '../../git/objects.ts';
import { type Trailer, endingIn, trailersIn, withTrailers } from './trailers.ts';

/** The author of most commits, with the name and time of the last of them. Undefined when all are merges. */
export function squashAuthor(commits: readonly Commit[]): string | undefined {
  const own = ownOf(commits);
  const counts = new Map<string, number>();
  for (const commit of own) counts.set(addressOf(commit), (counts.get(addressOf(commit)) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  const chosen = own.findLast((commit) => counts.get(addressOf(commit)) === most);
  return chosen && asBytes(readable(chosen, chosen.author));
}

interface Wording {
  readonly title: string;
  readonly author: string;
  readonly trailers: readonly Trailer[];
}

/** A single commit keeps its message. For several, the task's title comes first, then the message of each. */
export function squashMessage(commits: readonly Commit[], { title, author, trailers }: Wording): string {
  const own = ownOf(commits);
  const [only, ...others] = own;
  if (only !== undefined && others.length === 0 && only.message.trim() !== '')
    return withTrailers(asBytes(readable(only, only.message)), trailers);
  const list = `\n${own.map(listItem).join('')}`;
  const subject = oneLine(title);
  const people = coAuthors(own, author);
  return endingIn(asBytes(`${subject}\n${list}`), [
    ...people.map((value) => ({ key: 'Co-authored-by', value: asBytes(value) })),
    ...trailers,
  ]);
}

function listItem(commit: Commit): string {
  const subject = oneLine(readable(commit, subjectOf(commit.message)));
  const body = readable(commit, commit.message)
    .split('\n\n')
    .slice(1)
    .join('\n\n')
    .split('\n')
    // The squash commit names all authors in its own trailers.
    .filter((line) => !TRAILER.test(line))
    .map((line) => (line.trim() === '' ? '' : `  ${line}`))
    .join('\n')
    .trimEnd();
  return body === '' ? `- ${subject}\n` : `- ${subject}\n\n${body.replace(/^\n+/, '')}\n\n`;
}

const TRAILER = /^(?:Task|Plan|Co-authored-by|Signed-off-by):/i;

/** The other authors, and the co-authors that the commits name, each once. */
function coAuthors(commits: readonly Commit[], author: string): readonly string[] {
  const people = new Map<string, string>();
  for (const commit of commits) {
    const named = trailersIn(commit.message).filter(({ key }) => key.toLowerCase() === 'co-authored-by');
    for (const person of [commit.author.replace(/ \d+ [+-]\d{4}$/, ''), ...named.map(({ value }) => value)]) {
      const address = addressOf({ author: person });
      if (address !== '' && !people.has(address)) people.set(address, oneLine(readable(commit, person)));
    }
  }
  people.delete(addressOf({ author }));
  return [...people.values()];
}

function ownOf(commits: readonly Commit[]): readonly Commit[] {
  return commits.filter(({ parents }) => parents.length < 2);
}

function addressOf({ author }: Pick<Commit, 'author'>): string {
  return /<([^<>]*)>/.exec(author)?.[1]?.toLowerCase() ?? '';
}
