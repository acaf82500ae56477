/** Access to Linear's GraphQL API with a personal key, and its rate limits: headers of its own, and an error inside a 400. */

import { type Timestamp, timestamp } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { type Api, fetchApi, fieldsOf, stringIn } from '../../review/forges/api.ts';
import { safeBase } from '../../review/forges/address.ts';
import type { ApiAnswered, ApiLimit } from '../forges/paced.ts';

export interface LinearApiOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
}

export function linearApi({ environment, timeoutMs }: LinearApiOptions): Api | { readonly reason: string } {
  const base = safeBase(environment['COPSE_LINEAR_API'] ?? 'https://api.linear.app');
  if (base === undefined)
    return { reason: 'COPSE_LINEAR_API must be an https address, or one on this machine.' };
  const secret = environment['COPSE_LINEAR_KEY'] ?? environment['LINEAR_API_KEY'];
  if (!secret) return { reason: 'Not logged in to Linear: set LINEAR_API_KEY.' };
  return fetchApi({ base, secret, headers: { authorization: secret }, timeoutMs });
}

/** The time of a reset is in milliseconds. */
export function linearLimit({ header, body }: ApiAnswered, now: Timestamp): ApiLimit | undefined {
  const isRefused = errorsOf(body).some(
    (error) => stringIn(fieldsOf(error)['extensions'], 'code') === 'RATELIMITED',
  );
  const remaining = Number(header('x-ratelimit-requests-remaining') ?? Number.NaN);
  if (!isRefused && !Number.isFinite(remaining)) return undefined;
  const reset = Number(header('x-ratelimit-requests-reset') ?? Number.NaN);
  const isOver = isRefused || remaining === 0;
  const ends = Number.isFinite(reset) && reset > now ? timestamp(reset) : null;
  const until = isOver ? (ends ?? timestamp(now + defaultPolicy.sources.limitedMs)) : null;
  return { isRefused, remaining: isRefused ? 0 : remaining, until };
}

export function errorsOf(body: unknown): readonly unknown[] {
  const { errors } = fieldsOf(body);
  return Array.isArray(errors) ? (errors as readonly unknown[]) : [];
}
