/**
 * Follows the record that Codex keeps of a conversation: `$CODEX_HOME/sessions/<year>/<month>/<day>/rollout-…-<id>.jsonl`.
 * It is Codex’s own and may look different tomorrow: whatever is not as expected is as if it were not there.
 */

import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { type LineReader, readJsonLines } from '../json-lines.ts';

export interface RecordFollower {
  /** Looks for the record, unless it is found. */
  look(conversation: string | null): void;
  /** Reads what is still there. */
  stop(conversation: string | null): void;
}

/** What is in the record of a conversation that goes on is of earlier turns, and not read. */
export function followRecord(
  home: string,
  conversation: string | null,
  take: (value: unknown) => void,
): RecordFollower {
  let reader: LineReader | undefined;
  const follow = (id: string | null, from: (file: string) => number): void => {
    if (reader !== undefined || id === null) return;
    const file = findRecord(home, id);
    if (file === undefined) return;
    try {
      reader = readJsonLines(file, from(file), take, () => {});
    } catch {
      // It was there a moment ago; the next look may find it.
    }
  };
  follow(conversation, (file) => statSync(file).size);
  return {
    look: (id) => follow(id, () => 0),
    stop: (id) => {
      follow(id, () => 0);
      reader?.stop();
    },
  };
}

/** Days from the newest on: the one that is looked for is nearly always in the first. */
function findRecord(home: string, conversation: string): string | undefined {
  if (!/^[\w-]+$/.test(conversation)) return undefined;
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
