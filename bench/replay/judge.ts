/**
 * What to think of a merge that was made again. What git itself makes of it today decides, not what people committed then:
 * they resolved conflicts and changed things on the way, and git has learned to see renames since.
 */

/** What plain git makes of the two parents. */
export type Plain =
  | { readonly is: 'merged'; readonly tree: string }
  | { readonly is: 'conflict' }
  | { readonly is: 'unrelated' };

export type Ours =
  | { readonly is: 'merged'; readonly tree: string }
  | { readonly is: 'conflict' }
  | { readonly is: 'unrelated' }
  /** Refused: merges of the branch take back what others landed. */
  | { readonly is: 'reverts' }
  /** Some git could not check it out. */
  | { readonly is: 'unfit' };

export interface Replayed {
  /** What was committed then. */
  readonly real: string;
  readonly plain: Plain;
  readonly ours: Ours;
  /** Whether a merge of the branch is not what git makes of its parents; only looked at when ours was refused for it. */
  readonly isBranchEvil: boolean;
}

export const judgements = [
  'same as committed',
  'same conflict',
  'same as git, committed otherwise',
  'refused, for the branch takes back',
  'refused, for some git cannot check it out',
  'no common commit',
  'FAIL: another tree',
  'FAIL: conflict where git has none',
  'FAIL: none where git has a conflict',
  'FAIL: refused without reason',
  'FAIL: no common commit, says one of the two',
] as const;
export type Judgement = (typeof judgements)[number];

export function judge({ real, plain, ours, isBranchEvil }: Replayed): Judgement {
  if (ours.is === 'reverts')
    return isBranchEvil ? 'refused, for the branch takes back' : 'FAIL: refused without reason';
  if (ours.is === 'unfit') return 'refused, for some git cannot check it out';
  if (ours.is === 'unrelated' || plain.is === 'unrelated')
    return ours.is === plain.is ? 'no common commit' : 'FAIL: no common commit, says one of the two';
  if (ours.is === 'conflict')
    return plain.is === 'conflict' ? 'same conflict' : 'FAIL: conflict where git has none';
  if (plain.is === 'conflict') return 'FAIL: none where git has a conflict';
  if (ours.tree !== plain.tree) return 'FAIL: another tree';
  return ours.tree === real ? 'same as committed' : 'same as git, committed otherwise';
}

export function isFailure(judgement: Judgement): boolean {
  return judgement.startsWith('FAIL');
}
