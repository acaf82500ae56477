/** The kinds of text that several sections of `copse.yml` share: names, command lines, patterns. */
import * as z from 'zod';
import { defaultPolicy } from '../kernel/policy.ts';
import { nearest } from './problems/nearest.ts';
import { rules } from './shape/rules.ts';

const branchPlaceholders = ['task', 'slug', 'agent', 'workItem', 'jobId', 'date', 'schedule'] as const;
const messagePlaceholders = ['summary'] as const;

/** Names of agents, checks, schedules and sources, which become parts of branches, paths and commands. */
export const name = z
  .string()
  .max(defaultPolicy.text.nameLength)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, {
    error: 'is not a usable name: use letters, digits, ".", "_" and "-", beginning with a letter or digit',
  });

export const text = z.string().min(1);

/** One program: a shell command, or a list of program and arguments. */
export const command = z.union([text, z.array(text).min(1)], {
  error: 'must be a command line or a list of the program and its arguments',
});

/** Shell commands that run one after another; a single one needs no list. */
export const commandLines = z
  .union([text, z.array(text)], { error: 'must be a command line or a list of command lines' })
  .transform(rules.changes.lines);

/** An address to which Copse posts. It is a secret, as those of chat programs are. */
export const address = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .meta({ writeOnly: true });

/** Values must be text: YAML would turn `1.10` into 1.1 and `012` into 12. */
export const environment = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'is not a usable name for an environment variable' }),
  z.string().meta({ writeOnly: true }),
);

/** Git's rules for branch names, as far as a pattern can tell. */
const branchName = /^(?![-/])(?!.*(\.\.|\/\/|@\{))[^\s~^:?*[\\]+(?<![/.]|\.lock)$/;

export const branch = z.string().regex(branchName, {
  error: 'is not a name git accepts for a branch',
});

/** Text with placeholders; git's rules for branch names apply to it. */
export const branchPattern = z
  .string()
  .regex(branchName, {
    error: 'is not a pattern git would accept as a branch name',
  })
  .regex(onlyPlaceholders(branchPlaceholders), {
    error: (issue) => explainPlaceholder(issue.input, branchPlaceholders),
  })
  // An unknown placeholder is one mistake, not two.
  .regex(/\{(task|jobId|workItem)\}|\{(?!(slug|agent|date|schedule)\})/, {
    error: 'can give two tasks the same branch: add {task}, {jobId} or {workItem}',
  });

export const messagePattern = z
  .string()
  .min(1)
  .regex(onlyPlaceholders(messagePlaceholders), {
    error: (issue) => explainPlaceholder(issue.input, messagePlaceholders),
  });

function onlyPlaceholders(known: readonly string[]): RegExp {
  return new RegExp(`^([^{}]|\\{(${known.join('|')})\\})*$`);
}

function explainPlaceholder(input: unknown, known: readonly string[]): string {
  const list = known.map((word) => `{${word}}`).join(' ');
  const used = [...String(input).matchAll(/\{(\w*)\}/g)].map((match) => match[1] ?? '');
  const unknown = used.find((word) => !known.includes(word));
  if (unknown === undefined) return `has a brace that belongs to no placeholder: use ${list}`;
  const near = nearest(unknown, known);
  const hint = near === undefined ? '' : ` (perhaps {${near}})`;
  return `has the unknown placeholder {${unknown}}${hint}: use ${list}`;
}
