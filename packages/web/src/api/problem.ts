import type { ProblemCode } from '../../../copse/src/server/rules/problem.ts';

/** Also what only the page can say: there was no answer, or one without a code. */
type Code = ProblemCode | 'unreachable' | 'unknown';

/** What the server said when it refused: the sentence and the next commands of the command line. */
export class Problem extends Error {
  readonly code: Code;
  readonly status: number;
  readonly next: readonly string[];

  constructor(given: {
    readonly code: Code;
    readonly status: number;
    readonly detail: string;
    readonly next?: readonly string[];
  }) {
    super(given.detail);
    this.name = 'Problem';
    this.code = given.code;
    this.status = given.status;
    this.next = given.next ?? [];
  }
}

export async function problemOf(response: Response): Promise<Problem> {
  const { status } = response;
  try {
    const body = (await response.json()) as {
      readonly code?: ProblemCode;
      readonly detail?: string;
      readonly title?: string;
      readonly next?: readonly string[];
    };
    const detail = body.detail ?? body.title ?? `The server answered ${status}.`;
    const { next = [] } = body;
    return new Problem({
      code: body.code ?? 'unknown',
      status,
      detail,
      next: next.length === 0 && status >= 500 ? ['copse doctor'] : next,
    });
  } catch {
    return new Problem({
      code: 'unknown',
      status,
      detail: `The server answered ${status}.`,
      next: ['copse doctor'],
    });
  }
}

/** A page that was read stays when only the way to the server is broken; a refusal says that it is no longer true. */
export function endsPage(problem: Problem | null, data: unknown): problem is Problem {
  return problem !== null && (data === undefined || (problem.status >= 400 && problem.status < 500));
}

/** There was no answer at all. A question is asked again by the page; an act never is. */
export function unreachable(isQuestion: boolean): Problem {
  return new Problem({
    code: 'unreachable',
    status: 0,
    detail: isQuestion
      ? 'The server cannot be reached. This page asks again when the connection is back.'
      : 'The server cannot be reached, so this may not be done. When the connection is back, look before you try again.',
    next: ['copse serve'],
  });
}
