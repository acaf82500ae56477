import type { CommitId } from '../../../kernel/ids.ts';
import type { AttentionCause, HandbackReason } from '../../../tasks/rules/task.ts';

/** Why an attempt begins. `Text` is a string on the board, and an excerpt in what the agent is told. */
export type BeginOf<Text> =
  | { readonly why: 'claimed' }
  /** A rate limit had interrupted it. */
  | { readonly why: 'continued' }
  | { readonly why: 'retried'; readonly crashes: number }
  | { readonly why: 'restarted'; readonly answer: Text | null }
  | {
      readonly why: 'resumed';
      readonly message: Text | null;
      /** Present when the task had stopped because it needed attention. */
      readonly attention?: { readonly because: AttentionCause; readonly reason: Text };
    }
  | {
      readonly why: 'handed_back';
      readonly because: HandbackReason;
      readonly reason: Text;
      readonly target: CommitId | null;
    };
