/** Where an entry of a queue stands, as data; explain/rules/queue.ts makes the sentence. */

import type { BranchName, TaskId } from '../../../kernel/ids.ts';
import type { CheckRun } from '../merge-queue.ts';
import type { WaitReason } from '../wait-reason.ts';

export type EntryStanding =
  /** Its move of the target is journalled. */
  | { readonly kind: 'landing'; readonly target: BranchName }
  | { readonly kind: 'handed_back' }
  | { readonly kind: 'dependent'; readonly on: TaskId }
  | { readonly kind: 'held'; readonly reason: WaitReason }
  /** Held for the same reason as the whole queue. */
  | { readonly kind: 'stalled' }
  | { readonly kind: 'no_leader'; readonly task: TaskId; readonly isCheckLost: boolean }
  /** A person lets it land without checks. */
  | { readonly kind: 'unchecked' }
  /** The queue has no checks. */
  | { readonly kind: 'no_checks' }
  /** In no batch; `behind`: entries before it that are in none either. */
  | { readonly kind: 'in_line'; readonly behind: readonly TaskId[]; readonly hasFreeSlot: boolean }
  | {
      readonly kind: 'checking';
      readonly with: readonly TaskId[];
      readonly purpose: CheckRun['purpose'];
    }
  | { readonly kind: 'check_lost'; readonly with: readonly TaskId[] }
  /** Its batch failed, and the target is checked alone before a change is handed back. */
  | { readonly kind: 'target_check'; readonly with: readonly TaskId[]; readonly target: BranchName }
  | { readonly kind: 'recheck'; readonly with: readonly TaskId[]; readonly wasRed: boolean }
  | { readonly kind: 'half'; readonly with: readonly TaskId[]; readonly isSecond: boolean }
  /** Passed; a hotfix lands before it. */
  | { readonly kind: 'after_hotfix'; readonly hotfix: TaskId }
  /** Passed; it waits for a check of the train. */
  | { readonly kind: 'in_train'; readonly behind: readonly TaskId[] }
  /** Passed; the train up to this task is being checked. Null: up to its end. */
  | { readonly kind: 'train_check'; readonly upTo: TaskId | null };

export type EntryState =
  | 'waiting'
  | 'checking'
  | 'green'
  | 'again'
  | 'half'
  | 'held'
  | 'handed_back'
  | 'landing';

const STATE_OF: Readonly<Record<EntryStanding['kind'], EntryState>> = {
  landing: 'landing',
  handed_back: 'handed_back',
  dependent: 'held',
  held: 'held',
  stalled: 'held',
  no_leader: 'waiting',
  unchecked: 'waiting',
  no_checks: 'waiting',
  in_line: 'waiting',
  checking: 'checking',
  check_lost: 'again',
  target_check: 'again',
  recheck: 'again',
  half: 'half',
  after_hotfix: 'green',
  in_train: 'green',
  train_check: 'green',
};

/** One word for lists. */
export function stateOf(standing: EntryStanding): EntryState {
  return standing.kind === 'no_leader' && standing.isCheckLost ? 'again' : STATE_OF[standing.kind];
}
