/** Parses the input of people and agents into a task's definition, or into a refusal that says what is wrong. */

import { parseArea } from '../rules/areas/areas.ts';
import { parseCapability } from '../rules/capabilities.ts';
import { type Refusal, type Refused, refused } from '../../kernel/decision.ts';
import type { AgentName, PlanId, TaskId } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import { type Priority, parsePriority } from '../rules/priority.ts';
import {
  type ImportSource,
  type TaskDefinition,
  type TaskKind,
  type WorkItem,
  taskKinds,
} from '../rules/task.ts';
import { checkBody, checkName, checkTitle } from '../../kernel/text.ts';

/** Only the given values; null clears a value. */
export interface DefinitionInput {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
  readonly priority?: string | undefined;
  readonly kind?: string | undefined;
  readonly areas?: readonly string[] | undefined;
  readonly requires?: readonly string[] | undefined;
  readonly accept?: readonly string[] | undefined;
  readonly agent?: string | null | undefined;
  readonly plan?: PlanId | null | undefined;
  readonly dependsOn?: readonly TaskId[] | undefined;
  readonly workItem?: WorkItem | null | undefined;
  readonly from?: ImportSource | undefined;
}

type Changes = { -readonly [K in keyof TaskDefinition]?: TaskDefinition[K] };

export type ReadDefinition =
  | { readonly kind: 'accepted'; readonly changes: Readonly<Changes> }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export function readDefinition(input: DefinitionInput, policy: Policy): ReadDefinition {
  try {
    return { kind: 'accepted', changes: read(input, policy) };
  } catch (error) {
    if (error instanceof Invalid) return { kind: 'refused', refusal: error.refusal };
    throw error;
  }
}

/** A refusal of invalid input. */
export function invalid(reason: string, next: string): Refused {
  return refused('invalid', /[.?!]$/.test(reason) ? reason : `${reason}.`, next);
}

/** Thrown and caught within this file only. */
class Invalid extends Error {
  readonly refusal: Refusal;

  constructor(reason: string, next: string) {
    super(reason);
    ({ refusal: this.refusal } = invalid(reason, next));
  }
}

function read(input: DefinitionInput, policy: Policy): Changes {
  const changes: Changes = {};
  if (input.title !== undefined) changes.title = accepted(checkTitle(input.title)).title;
  if (input.body !== undefined) changes.body = accepted(checkBody(input.body)).body;
  if (input.priority !== undefined) changes.priority = readPriority(input.priority);
  if (input.kind !== undefined) changes.kind = readKind(input.kind);
  if (input.areas !== undefined) {
    changes.areas = list(input.areas, 'areas', policy, (text) => accepted(parseArea(text)).area.text);
  }
  if (input.requires !== undefined) {
    changes.requires = list(
      input.requires,
      'capabilities',
      policy,
      (text) => accepted(parseCapability(text)).capability,
    );
  }
  if (input.accept !== undefined) {
    changes.accept = list(input.accept, 'accept commands', policy, readCommand);
  }
  if (input.agent !== undefined) {
    changes.agent = input.agent === null ? null : (accepted(checkName(input.agent)).name as AgentName);
  }
  if (input.plan !== undefined) changes.plan = input.plan;
  if (input.dependsOn !== undefined)
    changes.dependsOn = list(input.dependsOn, 'dependencies', policy, (id) => id);
  if (input.workItem !== undefined) changes.workItem = input.workItem;
  if (input.from !== undefined) changes.from = input.from;
  return changes;
}

function accepted<T extends { readonly kind: 'accepted' }>(
  check: T | { readonly kind: 'refused'; readonly reason: string },
): T {
  if (check.kind === 'refused') throw new Invalid(check.reason, 'copse add --help');
  return check;
}

function readPriority(text: string): Priority {
  const priority = parsePriority(text);
  if (priority === undefined) {
    throw new Invalid(
      `The priority must be p1 to p5 (p5 is the most urgent), not "${text}".`,
      'copse add "…" --priority p3',
    );
  }
  return priority;
}

function readKind(text: string): TaskKind {
  const kind = taskKinds.find((known) => known === text);
  if (kind === undefined) {
    throw new Invalid(`The kind must be one of ${taskKinds.join(', ')}, not "${text}".`, 'copse add --help');
  }
  return kind;
}

function readCommand(text: string): string {
  const command = accepted(checkBody(text)).body.trim();
  if (command === '' || command.includes('\0')) {
    throw new Invalid(
      'An accept command cannot be empty or contain NUL.',
      'copse add "…" --accept "npm test"',
    );
  }
  return command;
}

/** Without repetitions, in the order given. */
function list<T extends string>(
  texts: readonly T[],
  what: string,
  policy: Policy,
  readOne: (text: T) => T,
): readonly T[];
function list(
  texts: readonly string[],
  what: string,
  policy: Policy,
  readOne: (text: never) => string,
): readonly string[] {
  const { listLength } = policy.text;
  if (texts.length > listLength) {
    throw new Invalid(
      `A task can have at most ${listLength} ${what}, not ${texts.length}.`,
      'copse add --help',
    );
  }
  return [...new Set(texts.map((text) => readOne(text as never)))];
}
