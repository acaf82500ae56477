/**
 * Parses one line of an export. Texts of people are validated like new input; export.ts compares the records with their
 * events.
 */

import * as z from 'zod';

import type { BoardLine } from './rules/board-line.ts';
import { parseArea } from '../tasks/rules/areas/areas.ts';
import { parseCapability } from '../tasks/rules/capabilities.ts';
import { isRecordKind, recordKinds } from './rules/event.ts';
import { taskKinds } from '../tasks/rules/task.ts';
import { checkName, checkTitle } from '../kernel/text.ts';

/** Ids become names of branches and folders and arguments of programs, so only characters of Copse's own ids are allowed. */
const PLAIN_ID = /^[a-z0-9][a-z0-9:._-]*$/i;
const id = z.string().regex(PLAIN_ID, 'is not an id');

/** Ids of several parts: a queue is named by its branch. They name nothing outside the board. */
const PARTED = new Set(['queue', 'schedule', 'delivery']);

function isIdOf(kind: string, text: string): boolean {
  return PARTED.has(kind) ? text.split('/').every((part) => PLAIN_ID.test(part)) : PLAIN_ID.test(text);
}

const definition = z.object({
  title: z.string().refine((title) => checkTitle(title).kind === 'accepted', 'is not a title'),
  body: z.string(),
  priority: z.literal([1, 2, 3, 4, 5]),
  kind: z.enum(taskKinds),
  dependsOn: z.array(id),
  areas: z.array(z.string().refine((area) => parseArea(area).kind === 'accepted', 'is not an area')),
  requires: z.array(
    z.string().refine((capability) => parseCapability(capability).kind === 'accepted', 'is not a capability'),
  ),
  plan: id.nullable(),
  agent: z
    .string()
    .refine((name) => checkName(name).kind === 'accepted', 'is not a name')
    .nullable(),
  accept: z.array(z.string()),
  workItem: z.object({ source: z.string(), id: z.string(), url: z.string().nullable() }).nullable(),
});

const event = z
  .looseObject({
    type: z.string().refine((type) => isRecordKind(type.split('.')[0] ?? ''), 'is not a kind of event'),
    id: z.string(),
    at: z.int(),
    definition: definition.optional(),
    changes: definition.partial().loose().optional(),
    dependsOn: z.array(id).optional(),
  })
  .refine((one) => isIdOf(one.type.split('.')[0] ?? '', one.id), { error: 'is not an id', path: ['id'] })
  .refine(
    ({ type, definition: defined }) => type !== 'task.created' || defined !== undefined,
    'has no definition',
  )
  .refine(
    ({ type, dependsOn }) => type !== 'task.dependencies_changed' || dependsOn !== undefined,
    'has no dependsOn',
  );

const outline = z.discriminatedUnion('line', [
  z.object({
    line: z.literal('board'),
    format: z.literal(1),
    version: z.int().positive(),
    id,
    events: z.int().min(0),
  }),
  z
    .object({
      line: z.literal('record'),
      kind: z.enum(recordKinds),
      record: z.looseObject({ id: z.string() }),
    })
    .refine(({ kind, record }) => isIdOf(kind, record.id), { error: 'is not an id', path: ['record', 'id'] }),
  z.object({
    line: z.literal('lease'),
    lease: z.object({ task: z.string(), token: z.int(), renewedAt: z.int(), expiresAt: z.int() }),
  }),
  z.object({
    line: z.literal('event'),
    recorded: z.object({
      number: z.int().positive(),
      by: z.looseObject({ kind: z.enum(['person', 'session', 'node']) }),
      event,
    }),
  }),
]);

type ParsedLine =
  | { readonly kind: 'read'; readonly line: BoardLine }
  | { readonly kind: 'refused'; readonly reason: string };

export function parseBoardLine(text: string): ParsedLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'refused', reason: 'it is not JSON' };
  }
  const parsed = outline.safeParse(value);
  if (parsed.success) return { kind: 'read', line: value as BoardLine };
  const [issue] = parsed.error.issues;
  const where = issue && issue.path.length > 0 ? `${issue.path.join('.')}: ` : '';
  return { kind: 'refused', reason: `${where}${issue?.message ?? 'it has an unknown shape'}` };
}
