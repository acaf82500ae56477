/** Makes a tool from a description and a function: checks the arguments, and turns results and errors into text. */

import { existsSync } from 'node:fs';

import { sessionFrom } from '../../board/rules/author.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import { OperationFailed, fail, failureOf } from '../../operations/failure.ts';
import type { Cli } from '../invocation.ts';
import type { Output } from '../output.ts';
import { stepLines } from '../../kernel/shell.ts';
import type { Tool } from './server.ts';

interface Parameter {
  readonly type: 'string' | 'boolean';
  readonly description: string;
  readonly isRequired?: boolean;
  /** Only described here; the command checks it. */
  readonly oneOf?: readonly string[];
}

export type Parameters = Readonly<Record<string, Parameter>>;

type ValueOf<P extends Parameter> = P['type'] extends 'string' ? string : boolean;

export type Given<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends { readonly isRequired: true }
    ? ValueOf<P[Name]>
    : ValueOf<P[Name]> | undefined;
};

interface Description<P extends Parameters> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: P;
}

/** `work` gets a command line whose folder is the worktree and whose output is the answer. */
export function defineTool<const P extends Parameters>(
  cli: Cli,
  { name, title, description, parameters }: Description<P>,
  work: (given: Given<P>, at: { readonly cli: Cli; readonly task: TaskId }) => Promise<void>,
): Tool {
  return {
    name,
    title,
    description,
    inputSchema: schemaOf(parameters),
    async call(given) {
      const lines: string[] = [];
      try {
        requireFitting(name, parameters, given);
        if (cli.env['COPSE_RUNNER_FOLDER']) {
          const { callThroughRunner, hasRunner } = await import('../through-runner.ts');
          if (hasRunner(cli.env)) return await callThroughRunner(cli, name, given);
        }
        const here = { ...cli, cwd: placeOf(cli), output: outputTo(lines) };
        await work(given as Given<P>, { cli: here, task: await requireOwnTask(here) });
        return { text: lines.join('\n'), isError: false };
      } catch (error) {
        const { reason, next } = failureOf(error);
        return {
          text: [reason, ...next.flatMap(stepLines)].map(shown).join('\n'),
          isError: true,
        };
      }
    },
  };
}

/** Agent programs start the server in any folder, so the worktree comes from the session's environment. */
function placeOf({ cwd, env }: Cli): string {
  if (sessionFrom(env) === undefined) return cwd;
  const own = [env['COPSE_WORKTREE_PATH'], env['COPSE_REPO_ROOT']];
  return own.find((folder) => folder && existsSync(folder)) ?? cwd;
}

async function requireOwnTask(cli: Cli): Promise<TaskId> {
  const { withReporting } = await import('../commands/agents/report-here.ts');
  try {
    return await withReporting(cli, undefined, async (_, { task }) => task);
  } catch (error) {
    if (!(error instanceof OperationFailed && error.failure.code === 'invalid')) throw error;
    return fail(
      'invalid',
      `copse mcp must run in a task's worktree, and ${shown(cli.cwd)} is not one.`,
      'copse worktrees',
    );
  }
}

/** Refuses unknown arguments, so that an agent that names another task learns that this has no effect. */
function requireFitting(
  tool: string,
  parameters: Parameters,
  given: Readonly<Record<string, unknown>>,
): void {
  const names = Object.keys(parameters);
  const takes = names.length > 0 ? `${tool} takes ${names.join(' and ')}` : `${tool} takes no arguments`;
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) {
      fail(
        'invalid',
        `${tool} has no argument ${JSON.stringify(name)}; it is always about your own task.`,
        takes,
      );
    }
  }
  for (const [name, { type, isRequired }] of Object.entries(parameters)) {
    const value = given[name];
    if (value == null && !isRequired) continue;
    if (typeof value !== type) fail('invalid', `${tool} needs ${name} as a ${type}.`, takes);
    if (typeof value === 'string' && !value.isWellFormed())
      fail('invalid', `${name} has half a character (a lone surrogate).`, takes);
  }
}

function schemaOf(parameters: Parameters): object {
  const entries = Object.entries(parameters);
  const properties = entries.map(([name, { type, description, oneOf }]) => [
    name,
    { type, description, ...(oneOf && { enum: oneOf }) },
  ]);
  const required = entries.filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties) as object,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function outputTo(lines: string[]): Output {
  return {
    line: (text = '') => void lines.push(text),
    raw: async (text) => void lines.push(text.toString()),
    json: (document) => void lines.push(JSON.stringify(document)),
    note: (text) => void lines.push(text),
    style: (_, text) => text,
    isTerminal: false,
    progress: () => {},
    areNotesShown: () => false,
    columns: () => Number.POSITIVE_INFINITY,
    rows: () => Number.POSITIVE_INFINITY,
  };
}
