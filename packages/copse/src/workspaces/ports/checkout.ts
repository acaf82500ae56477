/** The main checkout: a person's. It is looked at, and written only for the paths that a person asks to be moved. */

import type { CheckoutState } from '../rules/escape.ts';
import type { CommitId } from '../../kernel/ids.ts';

export interface Look {
  /** An earlier look, so that what did not change since is not read again. */
  readonly since?: CheckoutState;
  /** List what differs from this commit instead of HEAD. */
  readonly against?: CommitId;
}

export interface MoveRequest {
  readonly paths: readonly string[];
  /** A rescue of the main checkout that has them. */
  readonly snapshot: CommitId;
  readonly worktree: string;
}

export interface PathMove {
  readonly path: string;
  readonly outcome:
    | 'moved'
    /** It is as HEAD has it. */
    | 'unchanged'
    /** It is in the person's index, which stays as it is. */
    | 'staged'
    /** The worktree has something of its own there. */
    | 'in_the_way'
    /** Somebody wrote it meanwhile; it was left in the main checkout. */
    | 'changed_since'
    | 'not_a_file';
}

export interface Checkout {
  look(look?: Look): Promise<CheckoutState>;
  /** File by file: first into the worktree, then, if the main checkout still has exactly that, back to HEAD there. */
  move(request: MoveRequest): Promise<readonly PathMove[]>;
}
