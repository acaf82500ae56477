/** Who acts, from the environment: an agent's processes have a session and its token, people have neither. */

import type { Author } from './event.ts';
import {
  type FencingToken,
  type SessionId,
  type TaskId,
  brand,
  fencingToken,
  parseTaskId,
} from '../../kernel/ids.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type SessionAuthor = Extract<Author, { kind: 'session' }>;

/** Setup commands of a worktree have a session without a token; they act for the person who started them. */
export function authorFrom(env: Environment): Author {
  return sessionFrom(env) ?? { kind: 'person', name: env['USER'] ?? env['USERNAME'] ?? null };
}

export function sessionFrom(env: Environment): SessionAuthor | undefined {
  const session = env['COPSE_SESSION_ID'];
  const token = env['COPSE_TOKEN'];
  if (!session || !token) return undefined;
  return { kind: 'session', session: brand<SessionId>(session), token: tokenFrom(token) };
}

/**
 * Set for a command that a runner runs because its agent asked for it. It reads no file for the session, which may not be
 * allowed to read it itself.
 */
export const FOR_SESSION = 'COPSE_FOR_SESSION';

/** Whether a person types the command: no session, no sandbox and no runner has a part in it. */
export function isPerson(env: Environment): boolean {
  return !env['COPSE_SESSION_ID'] && !env['COPSE_SANDBOX'] && env[FOR_SESSION] === undefined;
}

/** The environment of the person who started this process, without the session and the task that it may belong to. */
export function asPerson(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_SESSIONS.has(name)));
}

const OF_SESSIONS = new Set([
  'COPSE_SESSION_ID',
  'COPSE_TOKEN',
  'COPSE_SERVER_TOKEN',
  'COPSE_TASK_ID',
  'COPSE_ATTEMPT_ID',
  'COPSE_SETTINGS_OF',
]);

/** The task of the environment. */
export function taskFrom(env: Environment): TaskId | undefined {
  return parseTaskId(env['COPSE_TASK_ID'] ?? '');
}

/** An invalid token becomes 0, which is never given out. */
function tokenFrom(text: string): FencingToken {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  return fencingToken(value);
}
