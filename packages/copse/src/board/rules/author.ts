/** On whose behalf a program speaks, by its environment: an agent's processes have a session and its token, people have neither. */

import type { Author } from './event.ts';
import {
  type FencingToken,
  type SessionId,
  type TaskId,
  brand,
  fencingToken,
  parseTaskId,
} from '../../kernel/ids.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type SessionAuthor = Extract<Author, { kind: 'session' }>;

/** A session is named without a token in commands that set a worktree up; those speak for the person who started them. */
export function authorFrom(env: Environment): Author {
  return sessionFrom(env) ?? { kind: 'person', name: env['USER'] ?? env['USERNAME'] ?? null };
}

export function sessionFrom(env: Environment): SessionAuthor | undefined {
  const session = env['COPSE_SESSION_ID'];
  const token = env['COPSE_TOKEN'];
  if (!session || !token) return undefined;
  return { kind: 'session', session: brand<SessionId>(session), token: tokenFrom(token) };
}

/** The task that the environment is about, whoever it is. */
export function taskFrom(env: Environment): TaskId | undefined {
  return parseTaskId(env['COPSE_TASK_ID'] ?? '');
}

/** What cannot be a token was never given out, and neither was 0: it holds nothing. */
function tokenFrom(text: string): FencingToken {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  return fencingToken(value);
}
