/**
 * Gemini CLI's records of conversations: `~/.gemini/tmp/<project>/chats/session-<time>-<begin of id>.jsonl`, with their folder
 * in `~/.gemini/tmp/<project>/.project_root`. Gemini resumes a conversation only in its folder and only if it has an answer,
 * and begins no second one with the same id.
 */

import { readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';

import type { Turn } from '../../ports/runtime.ts';
import { readIfPlain } from '../../../kernel/system/plain-file.ts';
import { defaultPolicy } from '../../../kernel/policy.ts';

type ConversationPlace = Pick<Turn, 'environment' | 'folder'>;

/** Whether the conversation can be resumed. */
export function isConversationKept(place: ConversationPlace, id: string): boolean {
  const file = findRecord(place, id);
  return file !== undefined && read(file).includes('"type":"gemini"');
}

export function findRecord({ environment, folder }: ConversationPlace, id: string): string | undefined {
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

function entries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): string {
  return readIfPlain(file, { mostBytes: defaultPolicy.files.packedRefsBytes, isFollowing: true }) ?? '';
}

function real(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
