/**
 * The record of a rescue: a readable subject and JSON in the message of its commit. Agents can write refs, so
 * every field is checked when it is read back.
 */

import {
  type BranchName,
  type CommitId,
  type TaskId,
  brand,
  parseTaskId,
  timestamp,
} from '../../../kernel/ids.ts';
import { isValidBranchName } from '../../rules/naming.ts';
import { type Rescue, type RescueReason, rescueReasons } from '../../../git/port.ts';
import { RESCUE_REFS } from './snapshot-commits.ts';

/** A `Rescue` and the fields that restoring it needs. */
export interface RescueRecord {
  readonly task: TaskId;
  readonly why: RescueReason;
  readonly atMs: number;
  readonly worktree: string;
  readonly branch: BranchName | null;
  readonly isDetached: boolean;
  readonly head: CommitId | null;
  readonly changed: number;
  /** The commit whose tree has the files of the git directory and the staged changes; null when there are neither. */
  readonly state: string | null;
  /** The index as a tree; null when there was no usable index. */
  readonly staged: string | null;
  readonly notSaved: readonly string[];
  /** Of a snapshot that travels: the task's branch, where HEAD is detached. */
  readonly branchTip?: CommitId | null;
}

const BEFORE: Readonly<Record<RescueReason, string>> = {
  removal: 'before removal',
  reset: 'before a reset',
  retry: 'before a retry',
  handover: 'before a handover',
  escape: 'after a change outside its worktree',
  asked: 'on request',
};

export function messageOf(record: RescueRecord): string {
  return `Rescue of ${record.task} ${BEFORE[record.why]}\n\n${JSON.stringify(record, null, 2)}\n`;
}

export type NamedRescue = Pick<RescueRecord, 'task' | 'why' | 'atMs'>;

/** Sorts by time. `turn` numbers the rescues of one millisecond. */
export function refOf({ task, why, atMs }: NamedRescue, turn: number): string {
  const time = new Date(atMs).toISOString().replace(/[-:.]/g, '');
  return `${RESCUE_REFS}/${task}/${time}-${why}${turn === 1 ? '' : `-${turn}`}`;
}

/** Undefined for a ref that Copse did not name. */
export function parseRescue(ref: string, commit: string, message: string): Rescue | undefined {
  const named = NAMED.exec(ref);
  const task = parseTaskId(named?.[1] ?? '');
  const why = rescueReasons.find((reason) => reason === named?.[3]);
  const atMs = Date.parse((named?.[2] ?? '').replace(COMPACT_TIME, '$1-$2-$3T$4:$5:$6.$7Z'));
  if (task === undefined || why === undefined || Number.isNaN(atMs)) return undefined;
  const record = parseRecord(message);
  return {
    ref,
    commit: brand<CommitId>(commit),
    task,
    why,
    at: timestamp(atMs),
    branch: record.branch ?? null,
    head: record.head ?? null,
    changed: record.changed ?? 0,
  };
}

const NAMED = new RegExp(`^${RESCUE_REFS}/([^/]+)/(\\d{8}T\\d{9}Z)-([a-z]+)(?:-\\d+)?$`);
const COMPACT_TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/;

export function parseRecord(message: string): Partial<RescueRecord> {
  const fields = fieldsIn(message);
  const { branch, head, state, staged, changed, isDetached, notSaved, worktree, branchTip } = fields;
  return {
    ...(typeof branch === 'string' && isValidBranchName(branch) && { branch }),
    ...(isId(head) && { head: brand<CommitId>(head) }),
    ...(isId(state) && { state }),
    ...(isId(staged) && { staged }),
    ...(typeof changed === 'number' && Number.isSafeInteger(changed) && { changed }),
    ...(typeof isDetached === 'boolean' && { isDetached }),
    ...(typeof worktree === 'string' && { worktree }),
    ...(isId(branchTip) && { branchTip: brand<CommitId>(branchTip) }),
    ...(Array.isArray(notSaved) && {
      notSaved: notSaved.filter((name): name is string => typeof name === 'string'),
    }),
  };
}

function fieldsIn(message: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(message.slice(message.indexOf('{')));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
}
