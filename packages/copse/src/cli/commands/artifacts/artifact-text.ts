/** How artifacts look. */

import type { Artifact } from '../../../tasks/rules/ledger.ts';
import { sizeText } from '../../../explain/rules/amounts.ts';
import { shown } from '../../../kernel/text.ts';

/** In one line, without its id. */
export function artifactText({ kind, address, content, title }: Artifact): string {
  if (kind !== 'file') return `${kind} ${shown(address)}${kind === 'uri' ? titleText(title) : ''}`;
  return `file ${shown(content?.name ?? address)} (${sizeText(content?.bytes ?? 0)})${titleText(title)}`;
}

function titleText(title: string | null): string {
  return title === null ? '' : `: ${shown(title)}`;
}
