/**
 * Problems of a `copse.yml`, in words that a person can act on. Values of the file are never repeated, because a board's
 * address holds a password; keys are, without anything that looks like a password.
 */
import type * as z from 'zod';
import { valueOf } from './describe.ts';
import type { Path, TextPosition, Reading } from './read.ts';
import { suggestKey, suggestValue } from './suggest.ts';

export interface ConfigProblem extends TextPosition {
  readonly file: string;
  /** Dotted, such as `agents.coder.workspace`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** A sentence. */
  readonly suggestion?: string;
}

type Issue = z.core.$ZodIssue;

export function renderProblem({ file, line, column, message, suggestion }: ConfigProblem): string {
  return `${file}:${line}:${column}: ${message}.${suggestion === undefined ? '' : ` ${suggestion}`}`;
}

export function problemsOf(issues: readonly Issue[], reading: Reading, file: string): ConfigProblem[] {
  return issues.flatMap((issue) => problemsOfIssue(issue, issue.path as Path, reading, file));
}

/** The message of an issue for which the key has none. The path is put in front. */
export function explainIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return explainType(issue.expected, issue.input);
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'too_small':
      if (issue.origin === 'string' || issue.origin === 'array') return 'must not be empty';
      return issue.inclusive === false
        ? `must be more than ${issue.minimum}`
        : `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${issue.origin === 'string' ? ' characters long' : ''}`;
    case 'invalid_format':
      return 'is not written as expected';
    case 'invalid_union':
    case 'invalid_key':
    case 'invalid_element':
    case 'unrecognized_keys':
    case 'not_multiple_of':
    case 'custom':
    default:
      return 'is not valid';
  }
}

/** `agents.coder.env.PATH`, `copy[0]`; keys that are not plain words are quoted. */
export function formatPath(path: Path): string {
  return path
    .map((key) => {
      if (typeof key === 'number') return `[${key}]`;
      return /^[\w-]+$/.test(key) ? `.${key}` : `.${JSON.stringify(shorten(redact(key)))}`;
    })
    .join('')
    .replace(/^\./, '');
}

/** Takes user names and passwords out of addresses. */
export function redact(text: string): string {
  return text.replace(/(:\/\/)\S*@/g, '$1***@').replace(/(password=)[^&\s]*/gi, '$1***');
}

function problemsOfIssue(issue: Issue, path: Path, reading: Reading, file: string): ConfigProblem[] {
  const problem = (place: TextPosition, at: Path, message: string, suggestion?: string): ConfigProblem => ({
    file,
    path: formatPath(at),
    ...place,
    message: `${at.length === 0 ? 'the file' : formatPath(at)} ${message}`,
    ...(suggestion === undefined ? {} : { suggestion }),
  });
  const written = path.reduce(valueOf, reading.value);

  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const at = [...path, key];
      return problem(reading.placeOfKey(at), at, 'is not a known key', suggestKey(path, key, reading.value));
    });
  }
  if (issue.code === 'invalid_key') {
    return [problem(reading.placeOfKey(path), path, issue.issues[0]?.message ?? issue.message)];
  }
  if (issue.code === 'invalid_union' && issue.discriminator !== undefined) {
    const options = 'options' in issue && Array.isArray(issue.options) ? issue.options.map(String) : [];
    const verb = written === undefined ? 'is missing: write' : 'must be';
    return [
      problem(
        reading.placeOfValue(path),
        path,
        `${verb} one of ${options.join(', ')}`,
        suggestValue(written, options),
      ),
    ];
  }
  if (written === undefined && issue.code !== 'custom') {
    return [problem(reading.placeOfValue(path), path, 'is missing')];
  }
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.filter((branch) => !branch.some(isOtherKind));
    const [only] = meant;
    if (only !== undefined && meant.length === 1) {
      return only.flatMap((inner) =>
        problemsOfIssue(inner, [...path, ...(inner.path as Path)], reading, file),
      );
    }
  }
  const words =
    issue.code === 'invalid_value' ? issue.values : issue.code === 'invalid_union' ? wordsOf(issue) : [];
  const example = issue.message === NOT_A_MAPPING ? EXAMPLES.get(formatPath(path)) : undefined;
  const message = example === undefined ? issue.message : `${issue.message}, such as ${example}`;
  return [problem(reading.placeOfValue(path), path, message, suggestValue(written, words.map(String)))];
}

/** The value is of another kind than this alternative of a union. */
function isOtherKind(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}

function wordsOf(issue: { readonly errors: readonly (readonly Issue[])[] }): readonly unknown[] {
  return issue.errors.flat().flatMap((inner) => (inner.code === 'invalid_value' ? inner.values : []));
}

function explainType(expected: string, input: unknown): string {
  if (input === undefined) return 'is missing';
  switch (expected) {
    case 'string':
      return typeof input === 'number' || typeof input === 'boolean'
        ? 'must be text: put it in quotes'
        : 'must be text';
    case 'int':
      return 'must be a whole number';
    case 'number':
      return 'must be a number';
    case 'boolean':
      return 'must be true or false';
    case 'array':
      return 'must be a list';
    default:
      return NOT_A_MAPPING;
  }
}

const NOT_A_MAPPING = 'must be a mapping of keys to values';

/** By the key that people most often write as a list. */
const EXAMPLES: ReadonlyMap<string, string> = new Map([
  ['landing.checks', '{ unit: npm test }'],
  ['agents', '{ claude: { runtime: claude } }'],
]);

function shorten(key: string): string {
  return key.length > 60 ? `${key.slice(0, 60)}…` : key;
}
