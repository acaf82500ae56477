/** What an operation asks for: fields from the shape of its input, in the order of its command line. */

import type { Operation } from '../../../../copse/src/operations/operation.ts';
import type { OperationName } from '../../api/operations.ts';
import { fieldsOf, lineOf } from './command-lines.ts';

/** As the build takes it from the registry (vite.config.ts). */
export interface DescribedForm {
  readonly name: OperationName;
  readonly title: string;
  readonly description: string;
  readonly effect: Operation['effect'];
  readonly undo?: string;
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
}

interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: FieldSchema;
}

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly about: string | undefined;
  readonly kind: 'text' | 'long' | 'number' | 'seconds' | 'flag' | 'choice' | 'words' | 'lines' | 'file';
  readonly choices: readonly string[];
  readonly isNeeded: boolean;
}

export interface CommandForm extends Omit<DescribedForm, 'properties' | 'required'> {
  readonly line: string;
  readonly fields: readonly Field[];
  /** Every name that it cannot do without. */
  readonly needed: readonly string[];
}

/** Undefined for one that has no place in a page. */
export function formOf({ properties, required, ...described }: DescribedForm): CommandForm | undefined {
  const line = lineOf(described.name);
  if (line === undefined) return undefined;
  const fields = fieldsOf(line).map((name): Field => {
    const schema = properties[name] ?? {};
    const kind = kindOf(described.name, name, schema);
    return {
      name,
      kind,
      label: labelOf(name),
      about: schema.description,
      choices: choicesOf(kind, schema),
      isNeeded: isNeeded(described.name, name, required),
    };
  });
  const needed = fields.filter((field) => field.isNeeded).map(({ name }) => name);
  return { ...described, line, fields, needed };
}

/** The caller in the page is the main checkout, which has no task of its own: what a worktree would say is asked for. */
function isNeeded(operation: OperationName, name: string, required: readonly string[]): boolean {
  return required.includes(name) || (name === 'task' && OF_A_TASK.has(operation));
}

const OF_A_TASK: ReadonlySet<OperationName> = new Set([
  'task.show',
  'task.why',
  'task.diff',
  'task.finish',
  'task.stuck',
  'worktree.sync',
  'ledger.add',
  'ledger.list',
  'artifact.add',
]);

function kindOf(operation: OperationName, name: string, { type, enum: choices }: FieldSchema): Field['kind'] {
  if (operation === 'board.import') return 'file';
  if (operation === 'question.answer' && name === 'isAllowed') return 'choice';
  if (choices !== undefined) return 'choice';
  // A command or a glob may have a comma.
  if (type === 'array') return LINES.has(name) ? 'lines' : 'words';
  if (type === 'boolean') return 'flag';
  if (type === 'integer' || type === 'number') return name.endsWith('Ms') ? 'seconds' : 'number';
  return LONG.has(name) ? 'long' : 'text';
}

const LONG: ReadonlySet<string> = new Set(['body', 'prompt']);
const LINES: ReadonlySet<string> = new Set(['accept', 'areas', 'paths']);

function choicesOf(kind: Field['kind'], { enum: choices, items, type }: FieldSchema): readonly string[] {
  if (kind === 'choice' && type === 'boolean') return ['allow', 'deny'];
  return choices ?? items?.enum ?? [];
}

/** `addDependencies` is "Add dependencies"; a time in milliseconds is asked in seconds. */
function labelOf(name: string): string {
  const words = name.replace(/Ms$/, 'Seconds').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What the fields of a form hold. */
export type Filled = Readonly<Record<string, string | boolean>>;

/** The input of the operation; a field that is empty is left out. */
export function inputOf({ fields }: CommandForm, filled: Filled): Readonly<Record<string, unknown>> {
  const given = fields.flatMap((field): [string, unknown][] => {
    const value = valueOf(field, filled[field.name] ?? '');
    return value === undefined ? [] : [[field.name, value]];
  });
  return Object.fromEntries(given);
}

function valueOf({ kind, choices }: Field, value: string | boolean): unknown {
  if (typeof value === 'boolean') return value || undefined;
  const text = value.trim();
  if (text === '') return undefined;
  switch (kind) {
    case 'number':
      return Number(text);
    case 'seconds':
      return Number(text) * 1_000;
    case 'words':
      return text.split(/[\s,]+/).filter(Boolean);
    case 'lines':
      return text
        .split('\n')
        .map((one) => one.trim())
        .filter(Boolean);
    case 'choice':
      return choices[0] === 'allow' ? text === 'allow' : text;
    case 'file':
      return value;
    default:
      return text;
  }
}
