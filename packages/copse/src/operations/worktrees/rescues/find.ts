/** A rescue by its ref, or by a part of it that no other rescue has. */

import type { Rescue } from '../../../git/port.ts';
import { copied } from '../../../kernel/ids.ts';
import type { WorkspaceContext } from '../../../workspaces/act/context.ts';
import { fail } from '../../failure.ts';

const NAMED = 5;

export async function requireRescue({ rescues }: WorkspaceContext, words: string): Promise<Rescue> {
  const text = copied(words);
  const all = text === '' ? [] : await rescues.list();
  const [first, ...others] = all.filter(({ ref }) => ref.includes(text));
  const whole = all.find(({ ref }) => ref === text || ref.endsWith(`/${text}`));
  const only = whole ?? (others.length === 0 ? first : undefined);
  if (only !== undefined) return only;
  if (first === undefined) {
    return fail('not_found', `There is no rescue ${JSON.stringify(text)}.`, 'copse rescue list');
  }
  const named = [first, ...others].slice(0, NAMED).map(({ ref }) => `  ${ref}`);
  const more = others.length >= NAMED ? [`  … and ${others.length + 1 - NAMED} more`] : [];
  return fail(
    'invalid',
    [`${JSON.stringify(text)} matches more than one rescue:`, ...named, ...more].join('\n'),
    'Write more of the ref.',
  );
}
