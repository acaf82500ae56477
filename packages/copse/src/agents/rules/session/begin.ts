import type { CommitId } from '../../../kernel/ids.ts';
import type { AttentionCause, HandbackReason } from '../../../tasks/rules/task.ts';

/** Why an attempt begins, with what was said about it: as it is on the board, or as much of it as an agent is told. */
export type BeginOf<Text> =
  | { readonly why: 'claimed' }
  /** A rate limit had interrupted it. */
  | { readonly why: 'continued' }
  | { readonly why: 'retried'; readonly crashes: number }
  | { readonly why: 'restarted'; readonly answer: Text | null }
  | {
      readonly why: 'resumed';
      readonly message: Text | null;
      /** Why a person had to look, when that is why it stopped. */
      readonly attention?: { readonly because: AttentionCause; readonly reason: Text };
    }
  | {
      readonly why: 'handed_back';
      readonly because: HandbackReason;
      readonly reason: Text;
      readonly target: CommitId | null;
    };
