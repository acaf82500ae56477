/**
 * GitHub's API through its own program, with the person's login: `gh api`. Requests and answers are the same as without it, so
 * github.ts serves both. The body goes to its input and not to its arguments, which all users of the machine can read; its
 * output includes the headers, which tell how long a limit lasts.
 *
 * It runs in the root folder, where there is no repository: in one it would run git with settings that an agent could write.
 */

import { spawn } from 'node:child_process';
import path from 'node:path';

import { shown } from '../../kernel/text.ts';
import { findProgram } from '../../kernel/system/find-program.ts';
import { type ApiAnswer, type Api, type ApiRequest, parsed } from './api.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface GhOptions {
  readonly environment: Environment;
  readonly host: string;
  readonly timeoutMs: number;
}

/** Undefined unless `gh` is installed and has a token for the host. */
export async function ghApi(options: GhOptions): Promise<Api | undefined> {
  const program = findProgram('gh', options.environment);
  if (program === undefined) return undefined;
  // Does not use the network: the first request shows whether the token is valid.
  const known = await run(program, ['auth', 'token', '--hostname', options.host], '', options);
  if (known.code !== 0) return undefined;
  return { name: `gh (${options.host})`, ask: (question) => ask(program, question, options) };
}

async function ask(program: string, question: ApiRequest, options: GhOptions): Promise<ApiAnswer> {
  const { method, path: endpoint, body, etag } = question;
  const argv = [
    'api',
    '--hostname',
    options.host,
    '--method',
    method,
    '--include',
    ...(etag === undefined ? [] : ['--header', `If-None-Match: ${etag}`]),
    ...(body === undefined ? [] : ['--input', '-']),
    endpoint,
  ];
  const input = body === undefined ? '' : JSON.stringify(body);
  const { code, stdout, stderr } = await run(program, argv, input, options);
  // It exits with 1 when the API refuses, and prints the answer anyway.
  const answer = readAnswer(stdout);
  if (answer !== undefined) return answer;
  const [line = ''] = stderr.trim().split('\n', 1);
  const why = code === null ? 'timed out' : line === '' ? `exit code ${code}` : shown(line);
  return { kind: 'unreachable', reason: why.slice(0, MOST_SAID) };
}

const MOST_SAID = 300;

/** The format of HTTP: a status line, headers, an empty line, the body. */
function readAnswer(text: string): ApiAnswer | undefined {
  const [, status, rest] = /^HTTP\/[\d.]+ (\d{3})[^\n]*\n([^]*)$/.exec(text) ?? [];
  if (status === undefined || rest === undefined) return undefined;
  const lines = rest.split('\n');
  const end = lines.findIndex((line) => line.trim() === '');
  const headers = new Map(
    lines.slice(0, Math.max(end, 0)).map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return {
    kind: 'answered',
    status: Number(status),
    header: (name) => headers.get(name.toLowerCase()) ?? null,
    body: parsed(lines.slice(end + 1).join('\n')),
  };
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, argv: readonly string[], input: string, options: GhOptions): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(program, argv, {
      cwd: path.parse(program).root,
      env: environmentOf(options.environment),
      stdio: 'pipe',
      timeout: options.timeoutMs,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', (error) => resolve({ code: null, stdout: '', stderr: error.message }));
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    // It may exit before it has read all input.
    child.stdin.on('error', () => {}).end(input);
  });
}

/** Without prompts and pager, and with the given host and repository only. */
function environmentOf(environment: Environment): NodeJS.ProcessEnv {
  const { GH_HOST: _, GH_REPO: _2, GH_DEBUG: _3, ...kept } = environment;
  return {
    ...Object.fromEntries(Object.entries(kept).filter(([name]) => !name.startsWith('GIT_'))),
    GH_PROMPT_DISABLED: '1',
    GH_NO_UPDATE_NOTIFIER: '1',
    GH_PAGER: '',
    NO_COLOR: '1',
  };
}
