/**
 * Commands of an agent, which has no way to the board: they are passed to the runner of its attempt, which runs them as this
 * session and answers with what they printed. What they would read here, a file or standard input, is sent along.
 */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { sessionFrom } from '../board/rules/author.ts';
import { runnerCalled } from '../compose/inside-attempt.ts';
import { defaultPolicy } from '../kernel/policy.ts';
import { fail } from '../operations/failure.ts';
import { type ExitCode, exitCodes } from './exit-code.ts';
import type { Cli } from './invocation.ts';
import { unreadText } from './read-text.ts';

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** These need no board. */
const HERE: ReadonlySet<string> = new Set([
  'hook',
  'mcp',
  'completion',
  'complete',
  'help',
  'demo',
  'shell-init',
]);

export function isForRunner(argv: readonly string[], env: Cli['env']): boolean {
  const [first = '-'] = argv;
  if (first.startsWith('-') || HERE.has(first) || argv.includes('--help') || argv.includes('-h'))
    return false;
  return hasRunner(env);
}

export function hasRunner(env: Cli['env']): boolean {
  return sessionFrom(env) !== undefined && runnerCalled(env) !== undefined;
}

export async function runThroughRunner(argv: readonly string[], cli: Cli): Promise<ExitCode> {
  const { stdout, stderr, code } = await askRunner(cli, await packed(argv, cli));
  if (stdout !== '') await cli.output.raw(stdout);
  if (stderr !== '') cli.output.note(stderr.replace(/\n$/, ''));
  return Object.values(exitCodes).find((known) => known === code) ?? exitCodes.failed;
}

async function askRunner(
  { env }: Pick<Cli, 'env'>,
  command: { readonly argv: readonly string[]; readonly input: string },
): Promise<Said> {
  const runner = runnerCalled(env);
  const answer = await runner?.asks.ask(
    runner.folder,
    { kind: 'command', input: command },
    { timeoutMs: defaultPolicy.asks.commandMs },
  );
  if (isSaid(answer)) return answer;
  return fail(
    'unavailable',
    'The runner of this attempt does not answer, and only it can reach the board.',
    'Stop: if the attempt is over, the task goes on with another one.',
  );
}

/** A call of a tool: one request to a server that the runner starts for it. */
export async function callThroughRunner(
  cli: Pick<Cli, 'env'>,
  name: string,
  given: Readonly<Record<string, unknown>>,
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const params = { name, arguments: given };
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const { stdout } = await askRunner(cli, { argv: ['mcp'], input: `${JSON.stringify(request)}\n` });
  const answer = JSON.parse(stdout) as { readonly result?: ToolResult };
  const { content, isError = true } = answer.result ?? {};
  return {
    text: content?.map((part) => part.text ?? '').join('\n') ?? 'The runner gave no answer.',
    isError,
  };
}

interface ToolResult {
  readonly content?: readonly { readonly text?: string }[];
  readonly isError?: boolean;
}

function isSaid(value: unknown): value is Said {
  if (typeof value !== 'object' || value === null) return false;
  const { code, stdout, stderr } = value as Readonly<Record<string, unknown>>;
  return typeof code === 'number' && typeof stdout === 'string' && typeof stderr === 'string';
}

const FILE = '--body-file';

async function packed(
  argv: readonly string[],
  cli: Cli,
): Promise<{ argv: readonly string[]; input: string }> {
  const at = argv.findIndex((word) => word === FILE || word.startsWith(`${FILE}=`));
  const word = argv[at];
  const file = word === FILE ? argv[at + 1] : word?.slice(FILE.length + 1);
  if (file !== undefined && file !== '-') {
    const rest = argv.filter((_, index) => index !== at && !(word === FILE && index === at + 1));
    return { argv: [...rest, FILE, '-'], input: await fileText(path.resolve(cli.cwd, file), file) };
  }
  if (argv[0] === 'artifact' && argv[1] === 'add') return { argv: withWholePath(argv, cli.cwd), input: '' };
  const reads = argv.some((one) => one === '-' || one.endsWith('=-'));
  return { argv, input: reads ? await text(cli.stdin()) : '' };
}

/** The runner reads the file of `artifact add` from another folder. */
function withWholePath(argv: readonly string[], cwd: string): readonly string[] {
  const at = argv.findIndex(
    (word, index) => index > 1 && !word.startsWith('-') && !WITH_VALUE.has(argv[index - 1] ?? ''),
  );
  const full = path.resolve(cwd, argv[at] ?? '');
  return at !== -1 && existsSync(full) ? argv.with(at, full) : argv;
}

const WITH_VALUE: ReadonlySet<string> = new Set(['--title', '--task']);

async function fileText(file: string, named: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    return fail('not_found', unreadText(error, named), 'Check the path, or use - for standard input.');
  }
}
