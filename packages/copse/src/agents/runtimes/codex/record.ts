/**
 * Where Codex keeps its record of a conversation: `$CODEX_HOME/sessions/<year>/<month>/<day>/rollout-…-<id>.jsonl`.
 * The format is Codex's own and may change: a record that is not where it is expected counts as missing.
 */

import { readdirSync } from 'node:fs';
import path from 'node:path';

/** Searches the newest days first, where the record nearly always is. */
export function findRecord(home: string, conversation: string | null): string | undefined {
  if (conversation === null || !/^[\w-]+$/.test(conversation)) return undefined;
  const sessions = path.join(home, 'sessions');
  for (const year of newestFirst(sessions)) {
    for (const month of newestFirst(path.join(sessions, year))) {
      for (const day of newestFirst(path.join(sessions, year, month))) {
        const folder = path.join(sessions, year, month, day);
        const name = newestFirst(folder).find((file) => file.endsWith(`-${conversation}.jsonl`));
        if (name !== undefined) return path.join(folder, name);
      }
    }
  }
  return undefined;
}

function newestFirst(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted().toReversed();
  } catch {
    return [];
  }
}
