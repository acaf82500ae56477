/** The state of `copse watch`, and what a key can lead to. */

import type { Overview } from '../../explain/rules/overview.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { ActionTarget } from './actions.ts';
import type { TypedLine } from './line-editor.ts';
import type { PausedTask } from './rows.ts';

export interface Message {
  readonly kind: 'done' | 'refused' | 'busy';
  /** What happened, then the next step. */
  readonly lines: readonly string[];
}

/** A line that a person types, and what is done with it. */
export type LinePurpose =
  | { readonly kind: 'filter' }
  | { readonly kind: 'command' }
  | { readonly kind: 'answer' | 'send_back'; readonly target: ActionTarget }
  | {
      readonly kind: 'verdict';
      readonly target: ActionTarget;
      readonly question: string;
      readonly isAllowed: boolean;
    };

export type Mode =
  | { readonly kind: 'list' }
  | {
      readonly kind: 'page';
      readonly title: string;
      readonly lines: readonly string[];
      readonly top: number;
      /** Shows the end as it grows, until the person scrolls up. */
      readonly isFollowed: boolean;
    }
  | { readonly kind: 'typing'; readonly purpose: LinePurpose; readonly line: TypedLine }
  | { readonly kind: 'cancelling'; readonly target: ActionTarget }
  | {
      readonly kind: 'permitting';
      readonly target: ActionTarget;
      readonly question: string;
      readonly lines: readonly string[];
    };

export interface WatchState {
  /** Undefined until the board was read. */
  readonly overview: Overview | undefined;
  readonly paused: readonly PausedTask[];
  /** Why the board cannot be read now. */
  readonly problem: string | null;
  readonly filter: string;
  readonly selected: TaskId | null;
  /** When the selection moved without a key. */
  readonly movedAt: number;
  readonly mode: Mode;
  readonly message: Message | null;
}

export type WatchEffect =
  | { readonly kind: 'quit' }
  | { readonly kind: 'suspend' }
  /** Runs a command in this process; the message line shows its result. `isAnswer`: the selection goes on to the next need. */
  | { readonly kind: 'run'; readonly argv: readonly string[]; readonly isAnswer: boolean }
  /** Runs a command in this process, and shows its output as a page. */
  | { readonly kind: 'page'; readonly argv: readonly string[]; readonly isFollowed: boolean }
  /** Runs a command that needs the terminal. */
  | { readonly kind: 'outside'; readonly argv: readonly string[]; readonly isAttach: boolean }
  | { readonly kind: 'diff'; readonly target: ActionTarget }
  | { readonly kind: 'ask'; readonly target: ActionTarget }
  | { readonly kind: 'path'; readonly target: ActionTarget };

export interface Pressed {
  readonly state: WatchState;
  readonly effect: WatchEffect | null;
}
