import { fail } from '../../operations/failure.ts';

/** `--limit` of a list that has pages. */
export function requireLimit(text: string | undefined, next: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  return fail('invalid', `--limit must be a number of at least 1, not "${text}".`, next);
}
