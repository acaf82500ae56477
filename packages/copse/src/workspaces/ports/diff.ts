/** What a branch changes. */

import type { CommitId } from '../../kernel/ids.ts';

export interface ChangedFile {
  readonly path: string;
  /** Where it was before it was moved or copied. */
  readonly from: string | null;
  readonly change: 'added' | 'deleted' | 'modified' | 'renamed' | 'copied' | 'type_changed';
  /** Null for binary files. */
  readonly lines: { readonly inserted: number; readonly deleted: number } | null;
}

export interface Diff {
  readonly files: readonly ChangedFile[];
  readonly inserted: number;
  readonly deleted: number;
  readonly patch: Buffer;
}

export interface DiffRequest {
  readonly from: CommitId;
  readonly to: CommitId;
  /** A worktree at the second commit whose uncommitted files count too. */
  readonly withUncommittedIn?: string;
  /** The summary alone costs less. */
  readonly withoutPatch?: boolean;
}

export interface Diffs {
  compare(request: DiffRequest): Promise<Diff>;
}
