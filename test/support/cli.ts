/**
 * The command line in real repositories. `copse` runs it in this process, which takes milliseconds; `copseProcess` starts the
 * built program, for what a process has of its own: signals, a terminal, its environment and the programs it is found by.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { afterAll, expect } from 'vitest';

import packageJson from '../../packages/copse/package.json' with { type: 'json' };
import { main } from '../../packages/copse/src/cli/main.ts';
import { closeAtEnd } from './close-at-end.ts';
import { expectInShape } from './records/in-shape.ts';
import { runGit } from './git/git-shell.ts';
import { plainEnv } from './plain-env.ts';
import { scratchFolder } from './scratch.ts';

export { plainEnv } from './plain-env.ts';

export const cliFile = fileURLToPath(new URL('../../packages/copse/dist/cli.js', import.meta.url));

/** Less garbage to collect while it starts, and little to copy for each git that it starts. */
export const nodeFlags = ['--min-semi-space-size=4', '--max-semi-space-size=4'] as const;

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Only in this process: the output is a terminal of this size, without colours. */
  readonly terminal?: { readonly columns: number; readonly rows: number };
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function copse(argv: readonly string[], options: RunOptions): Promise<Finished> {
  return needsProcess(argv, options) ? copseProcess(argv, options) : copseInside(argv, options);
}

/** They own the terminal or the input for as long as they run. */
const PROCESSES = new Set(['demo', 'mcp', 'attach']);

/** Git and the programs that a command starts inherit the variables of the process, not those that `main` is given. */
function needsProcess([command = '']: readonly string[], { env = {} }: RunOptions): boolean {
  const isInherited = (name: string) =>
    name === 'COPSE_BACKGROUND' || !/^(?:COPSE_.*|GITHUB_TOKEN|GITLAB_TOKEN|USER)$/.test(name);
  return PROCESSES.has(command) || Object.keys(env).some(isInherited);
}

async function copseInside(
  argv: readonly string[],
  { cwd, env, stdin = '', terminal }: RunOptions,
): Promise<Finished> {
  Object.assign(process.env, plainEnv);
  const [stdout, stderr] = [new Collected(terminal), new Collected()];
  const code = await main(argv, packageJson.version, {
    cwd,
    env: { ...plainEnv, ...env },
    stdin: () => Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]),
    stdout,
    stderr,
  });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  constructor(terminal?: RunOptions['terminal']) {
    super();
    if (terminal) Object.assign(this, terminal, { isTTY: true, getColorDepth: () => 1 });
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

export function copseProcess(argv: readonly string[], options: RunOptions): Promise<Finished> {
  const child = startCopse(argv, options);
  // The program may have ended before it is written to.
  child.stdin?.on('error', () => {}).end(options.stdin ?? '');
  return finished(child);
}

export function startCopse(argv: readonly string[], { cwd, env }: RunOptions): ChildProcess {
  return spawn(process.execPath, [...nodeFlags, cliFile, ...argv], { cwd, env: { ...plainEnv, ...env } });
}

/** The one document of a command that succeeds with `--json` and says nothing else. */
export async function answer<T>(argv: readonly string[], options: RunOptions): Promise<T> {
  const { code, stdout, stderr } = await copse([...argv, '--json'], options);
  expect({ argv, code, stderr }).toEqual({ argv, code: 0, stderr: '' });
  const document = JSON.parse(stdout) as T;
  await expectInShape(argv, document);
  return document;
}

/** What a command that succeeds prints. */
export async function printed(argv: readonly string[], options: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await copse(argv, options);
  expect({ argv, code, stderr }).toEqual({ argv, code: 0, stderr: '' });
  return stdout;
}

export async function finished(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { code, stdout, stderr };
}

/** A folder for the tests of one file, gone when they are over. */
export function newArea(): string {
  const area = realpathSync(mkdtempSync(path.join(scratchFolder(), 'copse dö 林 😀 ')));
  afterAll(() => rmSync(area, { recursive: true, force: true }));
  return area;
}

let repositories = 0;

/** A repository with one commit. */
export function newRepository(area: string): string {
  repositories += 1;
  const folder = path.join(area, `répo ${repositories}`);
  cpSync(emptyRepository(), folder, { recursive: true });
  return folder;
}

let template: string | undefined;

/** To be copied: a tenth of what two gits take. */
export function emptyRepository(): string {
  if (template !== undefined) return template;
  const folder = mkdtempSync(path.join(scratchFolder(), 'copse-template-'));
  closeAtEnd(() => {
    rmSync(folder, { recursive: true });
    template = undefined;
  });
  git(folder, 'init', '--quiet', '--initial-branch=main');
  git(folder, 'commit', '--quiet', '--allow-empty', '--message=first');
  return (template = folder);
}

/** Agents do not inherit git's variables. Written without a git: many tests need it. */
export function commitAsAgent(repository: string): void {
  const config = path.join(repository, '.git', 'config');
  appendFileSync(config, '[user]\n\tname = Agent\n\temail = agent@example.invalid\n');
}

export function git(cwd: string, ...argv: readonly string[]): string {
  const { status, stdout, stderr } = runGit({ cwd, argv });
  if (status === 0) return stdout.toString().trimEnd();
  throw Object.assign(new Error(`Command failed: git ${argv.join(' ')}\n${stderr}`), { status, stderr });
}

export interface TaskDocument {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly dependsOn: readonly string[];
}

export async function newTasks<const Titles extends readonly string[]>(
  titles: Titles,
  options: RunOptions,
): Promise<{ readonly [Index in keyof Titles]: TaskDocument }> {
  const tasks = await Promise.all(titles.map((title) => answer<TaskDocument>(['add', title], options)));
  return tasks as unknown as { readonly [Index in keyof Titles]: TaskDocument };
}
