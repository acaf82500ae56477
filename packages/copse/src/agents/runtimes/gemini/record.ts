/**
 * The records that Gemini CLI keeps of conversations: `~/.gemini/tmp/<project>/chats/session-<time>-<begin of id>.jsonl`,
 * with the folder that they belong to in `~/.gemini/tmp/<project>/.project_root`. It goes on with a conversation only in its
 * folder, and neither goes on with one that has no answer yet nor begins another by the same id.
 */

import { readFileSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

import type { Turn } from '../../ports/runtime.ts';
import { type LineReader, readJsonLines } from '../json-lines.ts';

type Place = Pick<Turn, 'environment' | 'folder'>;

/** Whether there is something to go on with. */
export function isConversationKept(place: Place, id: string): boolean {
  const file = findRecord(place, id);
  return file !== undefined && read(file).includes('"type":"gemini"');
}

function findRecord({ environment, folder }: Place, id: string): string | undefined {
  const [, begin] = /^([0-9a-f]{8})-[0-9a-f-]{27}$/i.exec(id) ?? [];
  if (begin === undefined) return undefined;
  const { GEMINI_CLI_HOME: own = '', HOME: home = '' } = environment;
  const projects = path.join(own === '' ? home : own, '.gemini', 'tmp');
  const folders = new Set([folder, real(folder)]);
  for (const name of entries(projects)) {
    const project = path.join(projects, name);
    if (!folders.has(read(path.join(project, '.project_root')).trim())) continue;
    const chats = path.join(project, 'chats');
    const found = entries(chats)
      .filter((file) => file.endsWith(`-${begin}.jsonl`))
      .map((file) => path.join(chats, file))
      .find((file) => read(file).includes(`"sessionId":"${id}"`));
    if (found !== undefined) return found;
  }
  return undefined;
}

export interface RecordFollower {
  /** Looks for the record, unless it is found. */
  look(): void;
  /** Reads what is still there. */
  stop(): void;
}

/** What is in a record that is there already is of earlier turns, and not read. */
export function followRecord(turn: Place, id: string, take: (value: unknown) => void): RecordFollower {
  let reader: LineReader | undefined;
  const follow = (from: (file: string) => number): void => {
    if (reader !== undefined) return;
    const file = findRecord(turn, id);
    if (file === undefined) return;
    try {
      reader = readJsonLines(file, from(file), take, () => {});
    } catch {
      // It was there a moment ago; the next look may find it.
    }
  };
  follow((file) => statSync(file).size);
  return {
    look: () => follow(() => 0),
    stop: () => {
      follow(() => 0);
      reader?.stop();
    },
  };
}

function entries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function real(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
