import { Problem } from './problem.ts';

/** Whatever went wrong, as something that a page can show. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem({ code: 'unknown', status: 0, detail });
}
