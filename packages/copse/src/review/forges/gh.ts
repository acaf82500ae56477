/**
 * GitHub's API by its own program, with what a person logged in to there: `gh api`. The same questions and answers as without
 * it, so there is one understanding of them (github.ts). What is asked goes to its input, not to its arguments, which everybody
 * on the machine can read; its answer comes with the headers, which say how long a limit lasts.
 *
 * It runs where no repository is and no agent could make one: there it would ask git, and git would heed what the agent wrote.
 */

import { spawn } from 'node:child_process';
import path from 'node:path';

import { shown } from '../../kernel/text.ts';
import { findProgram } from '../../kernel/system/find-program.ts';
import { type Answer, type Api, type Question, parsed } from './api.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface GhOptions {
  readonly environment: Environment;
  readonly host: string;
  readonly timeoutMs: number;
}

/** Undefined unless it is installed and has a token for the host. */
export async function ghApi(options: GhOptions): Promise<Api | undefined> {
  const program = findProgram('gh', options.environment);
  if (program === undefined) return undefined;
  // Asks nobody: whether the token is still good, the first question tells.
  const known = await run(program, ['auth', 'token', '--hostname', options.host], '', options);
  if (known.code !== 0) return undefined;
  return { name: `gh (${options.host})`, ask: (question) => ask(program, question, options) };
}

async function ask(program: string, question: Question, options: GhOptions): Promise<Answer> {
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
  // It ends with 1 for whatever the API refuses, and has printed the answer all the same.
  const answer = readAnswer(stdout);
  if (answer !== undefined) return answer;
  const [line = ''] = stderr.trim().split('\n', 1);
  const why = code === null ? 'it took too long' : line === '' ? `it ended with ${code}` : shown(line);
  return { answered: false, reason: why.slice(0, MOST_SAID) };
}

const MOST_SAID = 300;

/** A status line, headers, an empty line, the body: as HTTP has it. */
function readAnswer(text: string): Answer | undefined {
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
    answered: true,
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
    // It may end before it has read everything.
    child.stdin.on('error', () => {}).end(input);
  });
}

/** It asks no question, opens no pager, and its host and repository are those that it is given. */
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
