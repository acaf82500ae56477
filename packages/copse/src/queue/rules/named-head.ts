/** A decision about a commit that a person names counts for this commit only. */

import { type Refused, refused } from '../../kernel/decision.ts';
import type { CommitId, TaskId } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';

/** A refusal unless the branch is at the commit, which may be given by its first characters. Null: it is not in this repository. */
export function refuseOtherHead(
  id: TaskId,
  given: string | undefined,
  head: CommitId | null,
): Refused | undefined {
  if (given === undefined) return undefined;
  const next = `copse review ${id}`;
  if (!/^[0-9a-f]{7,64}$/i.test(given))
    return refused('invalid', `--head must be a commit id, not "${shown(given)}".`, next);
  if (head?.startsWith(given.toLowerCase())) return undefined;
  const now = head === null ? 'it is not in this repository' : `it is at ${head.slice(0, 10)}`;
  return refused('wrong_status', `The branch of ${id} is no longer at ${given}: ${now}.`, next);
}
