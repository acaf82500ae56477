/** How artifacts look, and which one a person means. */

import type { Artifact } from '../../../tasks/rules/ledger.ts';
import type { ArtifactId } from '../../../kernel/ids.ts';
import type { Board } from '../../../board/port.ts';
import { sizeText } from '../../../explain/rules/amounts.ts';
import { copied } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';

/** In one line, without its id. */
export function artifactText({ kind, address, content, title }: Artifact): string {
  if (kind !== 'file') return `${kind} ${shown(address)}${kind === 'uri' ? titleText(title) : ''}`;
  return `file ${shown(content?.name ?? address)} (${sizeText(content?.bytes ?? 0)})${titleText(title)}`;
}

function titleText(title: string | null): string {
  return title === null ? '' : `: ${shown(title)}`;
}

const PREFIX = 'ar-';
const NAMED = 5;
const QUOTED = 60;

export async function requireArtifact(board: Board, text: string): Promise<Artifact> {
  const found = await findArtifacts(board, text);
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  const quoted = JSON.stringify(text.length > QUOTED ? `${text.slice(0, QUOTED)}…` : text);
  if (first === undefined)
    return fail('not_found', `The board has no artifact ${quoted}.`, 'copse artifact list --all');
  const more = found.length > NAMED ? ', …' : '';
  const ids = found.slice(0, NAMED).map(({ id }) => id);
  return fail(
    'invalid',
    `${quoted} matches more than one artifact: ${ids.join(', ')}${more}.`,
    'give one more character of the id',
  );
}

/** Those whose ids begin so; a whole id is only its own. */
export async function findArtifacts(board: Board, text: string): Promise<readonly Artifact[]> {
  const word = copied(text).toLowerCase();
  if (!/^[a-z0-9-]+$/.test(word)) return [];
  const beginning = word.startsWith(PREFIX) ? word : PREFIX + word;
  const ids = (await board.idsStartingWith('artifact', beginning, NAMED + 1)) as readonly ArtifactId[];
  const meant = ids.includes(beginning as ArtifactId) ? [beginning as ArtifactId] : ids;
  const found = await board.some('artifact', meant);
  return meant.flatMap((id) => found.get(id) ?? []);
}
