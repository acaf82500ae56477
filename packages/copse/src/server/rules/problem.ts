/** Errors as application/problem+json (RFC 9457), with the sentence and the next commands of the command line. */

import type { RefusalCode } from '../../kernel/decision.ts';
import { splitRemark } from '../../kernel/shell.ts';

export type ProblemCode =
  | RefusalCode
  | 'usage'
  | 'unavailable'
  | 'unhealthy'
  | 'needs_person'
  | 'unexpected'
  | 'method_not_allowed'
  | 'too_large'
  | 'unsupported_type'
  | 'needs_confirmation'
  | 'key_reused'
  | 'key_pending'
  | 'answer_lost'
  | 'late'
  | 'busy';

export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  readonly next: readonly string[];
  /** The task whose status refused it. */
  readonly task?: string;
  /** Of an operation that destroys: how a person brings it back, or what stays. */
  readonly undo?: string;
}

/** Programs get the commands without remarks for people. */
export function problem(code: ProblemCode, detail: string, ...steps: readonly string[]): Problem {
  const next = steps.map((step) => splitRemark(step).command);
  const status = problemStatuses[code];
  return { type: 'about:blank', title: TITLES[status], status, detail, code, next };
}

export const problemStatuses = {
  not_found: 404,
  wrong_status: 409,
  fenced: 409,
  too_early: 409,
  already_landing: 409,
  has_dependants: 409,
  already_a_task: 409,
  not_this_session: 403,
  backward: 409,
  invalid: 400,
  cycle: 409,
  unauthorized: 401,
  usage: 400,
  unavailable: 503,
  unhealthy: 503,
  needs_person: 409,
  unexpected: 500,
  method_not_allowed: 405,
  too_large: 413,
  unsupported_type: 415,
  needs_confirmation: 428,
  key_reused: 422,
  key_pending: 409,
  answer_lost: 409,
  late: 503,
  busy: 503,
} as const satisfies Record<ProblemCode, number>;

const TITLES: Readonly<Record<(typeof problemStatuses)[ProblemCode], string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  428: 'Precondition Required',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** The one answer to every request that may not enter, whatever the reason. */
export const unauthorized: Problem = problem(
  'unauthorized',
  'This request needs the token of copse serve.',
  'copse serve --help',
);
