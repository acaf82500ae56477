import { defaultPolicy } from './policy.ts';

declare const brandName: unique symbol;

/** A string or number that cannot be passed where another kind of id is meant. */
export type Brand<T extends string | number, Name extends string> = T & { readonly [brandName]: Name };

export type TaskId = Brand<string, 'TaskId'>;
export type PlanId = Brand<string, 'PlanId'>;
export type SessionId = Brand<string, 'SessionId'>;
export type AttemptId = Brand<string, 'AttemptId'>;
export type WorkspaceId = Brand<string, 'WorkspaceId'>;
export type LandingId = Brand<string, 'LandingId'>;
export type CheckId = Brand<string, 'CheckId'>;
export type LedgerEntryId = Brand<string, 'LedgerEntryId'>;
export type ArtifactId = Brand<string, 'ArtifactId'>;
export type NodeId = Brand<string, 'NodeId'>;
export type ResourceName = Brand<string, 'ResourceName'>;
export type ScheduleId = Brand<string, 'ScheduleId'>;
/** One run of a schedule or a trigger. */
export type JobId = Brand<string, 'JobId'>;
/** `<trigger>/<id of the delivery>`. */
export type DeliveryId = Brand<string, 'DeliveryId'>;
/** Of a work item of a source: see intake/rules/item.ts. */
export type ItemId = Brand<string, 'ItemId'>;
export type AgentName = Brand<string, 'AgentName'>;
export type BranchName = Brand<string, 'BranchName'>;
export type CommitId = Brand<string, 'CommitId'>;

/** Grows with every claim of a task; 0 means that it was never claimed. */
export type FencingToken = Brand<number, 'FencingToken'>;
export type EventNumber = Brand<number, 'EventNumber'>;
/** Milliseconds since the epoch. */
export type Timestamp = Brand<number, 'Timestamp'>;

/**
 * Gives a value that Copse itself stored or just made its type back. It checks nothing: what a person or an
 * agent typed goes through a parser.
 */
export function brand<T extends Brand<string, string> | Brand<number, string>>(
  value: T extends string ? string : number,
): T {
  return value as unknown as T;
}

export function timestamp(ms: number): Timestamp {
  if (!Number.isSafeInteger(ms)) throw new RangeError(`${ms} is not a whole number of milliseconds`);
  return brand<Timestamp>(ms);
}

export function fencingToken(value: number): FencingToken {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not a fencing token`);
  return brand<FencingToken>(value);
}

// No i, l, o or u: ids are read aloud and typed by hand.
const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const PLAN_ID_PREFIX = 'pl-';
const ID_CHARACTERS = new RegExp(`^[${ID_ALPHABET}]+$`);

interface IdRules {
  readonly taskIdLength: number;
  readonly taskIdDrawsPerLength: number;
}

interface TaskIdRules extends IdRules {
  readonly taskIdPrefix: string;
}

/** The id as the board spells it, or undefined when the text cannot be a whole task id. */
export function parseTaskId(text: string): TaskId | undefined {
  const { taskIdPrefix, taskIdLength } = defaultPolicy.naming;
  const id = lowerCaseAscii(text);
  if (!id.startsWith(taskIdPrefix)) return undefined;
  const characters = id.slice(taskIdPrefix.length);
  if (characters.length < taskIdLength || !ID_CHARACTERS.test(characters)) return undefined;
  return brand<TaskId>(id);
}

/**
 * Task ids to try in turn, the short ones first. They grow where draws keep colliding, so that even a broken source of
 * randomness comes to a free one; the draws end only where ids would be longer than any name may be.
 */
export function* taskIdDraws(
  random: () => number,
  naming: TaskIdRules = defaultPolicy.naming,
): Generator<TaskId, void> {
  for (const id of growingDraws(naming.taskIdPrefix, random, naming)) yield brand<TaskId>(id);
}

/** Plan ids to try in turn: people type them too, so they are as short as those of tasks. */
export function* planIdDraws(random: () => number): Generator<PlanId, void> {
  for (const id of growingDraws(PLAN_ID_PREFIX, random, defaultPolicy.naming)) yield brand<PlanId>(id);
}

/** An id for a record that is not a task, long enough to be unique without asking the board. */
export function drawId(prefix: string, random: () => number): string {
  return prefix + drawCharacters(defaultPolicy.naming.recordIdLength, random);
}

/** Whether the text can be the beginning of a task id, with or without `cp-`. */
export function isTaskIdPrefix(text: string): boolean {
  return ID_CHARACTERS.test(withoutTaskPrefix(text));
}

export type PrefixResolution =
  | { readonly kind: 'found'; readonly id: TaskId }
  | { readonly kind: 'ambiguous'; readonly ids: readonly TaskId[] }
  | { readonly kind: 'unknown' };

/** The one task that people mean by the beginning of its id. A whole id wins over longer ids that begin with it. */
export function resolvePrefix(prefix: string, ids: Iterable<TaskId>): PrefixResolution {
  if (!isTaskIdPrefix(prefix)) return { kind: 'unknown' };
  const wanted = taskIdBeginning(prefix);
  const matches = new Set<TaskId>();
  for (const id of ids) {
    if (id === wanted) return { kind: 'found', id };
    if (id.startsWith(wanted)) matches.add(id);
  }
  const [first, ...others] = [...matches].toSorted();
  if (first === undefined) return { kind: 'unknown' };
  return others.length === 0 ? { kind: 'found', id: first } : { kind: 'ambiguous', ids: [first, ...others] };
}

function* growingDraws(prefix: string, random: () => number, rules: IdRules): Generator<string, void> {
  for (let length = rules.taskIdLength; length <= defaultPolicy.text.nameLength; length += 1) {
    for (let draw = 0; draw < rules.taskIdDrawsPerLength; draw += 1)
      yield prefix + drawCharacters(length, random);
  }
}

/** The beginning of a task's id as the board spells it: `#A1B2:` means `cp-a1b2`. */
export function taskIdBeginning(text: string): string {
  return defaultPolicy.naming.taskIdPrefix + withoutTaskPrefix(text);
}

export function planIdBeginning(text: string): string {
  const id = lowerCaseAscii(copied(text));
  return id.startsWith(PLAN_ID_PREFIX) ? id : PLAN_ID_PREFIX + id;
}

function withoutTaskPrefix(text: string): string {
  const { taskIdPrefix } = defaultPolicy.naming;
  const id = lowerCaseAscii(copied(text));
  return id.startsWith(taskIdPrefix) ? id.slice(taskIdPrefix.length) : id;
}

/** Without what stands around an id where it is printed: `#a1b2`, `cp-a1b2:`, `(cp-a1b2)`. */
export function copied(text: string): string {
  return text.length > LONGEST_COPIED
    ? text
    : text.replace(/^[ #('"`[]+/, '').replace(/[ :;,.!?)'"`\]…]+$/, '');
}

const LONGEST_COPIED = 100;

function drawCharacters(length: number, random: () => number): string {
  let characters = '';
  while (characters.length < length) {
    // A source that returns 1, a negative number or NaN still gives a character.
    const index = Math.floor(random() * ID_ALPHABET.length);
    characters += ID_ALPHABET[index] ?? ID_ALPHABET.charAt(0);
  }
  return characters;
}

// `toLowerCase` would also turn the Kelvin sign into a k.
function lowerCaseAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
