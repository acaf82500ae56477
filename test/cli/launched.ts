/** Starting the launcher as a person's shell does, and watching what it leaves. */

import type { ChildProcess } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type Result = { code: number | null; stdout: string; stderr: string };

/** A program in place of the CLI that tells how it was started. */
export const TELL_TALE = `
import { readFileSync } from 'node:fs';
import { version } from './kernel/policy.ts';
const [first] = process.argv.slice(2);
if (process.env.COPSE_CHANGED === 'stdin' && readFileSync(0).length > 0) process.exit(75);
if (first === '--version') {
  console.log(version);
  process.exit();
}
const stdin = first === 'stdin' ? readFileSync(0, 'utf8') : '';
process.stdout.write(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), stdin, node: process.versions.node }));
process.exitCode = 7;
`;

/** The environment of a person's shell: without what `npm test` has added to ours, such as the pinned node. */
export function systemEnv(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, npm_config_prefer_offline: 'true' };
  for (const name of Object.keys(env)) {
    if (
      /^(npm_(package|lifecycle|command|execpath|node_execpath|config_local_prefix)|INIT_CWD|NODE|VITEST|NODE_ENV)/.test(
        name,
      )
    ) {
      delete env[name];
    }
  }
  const path = (process.env['PATH'] ?? '').split(delimiter);
  env['PATH'] = path.filter((dir) => !/node_modules|node-gyp-bin/.test(dir)).join(delimiter);
  return env;
}

export async function finish(child: ChildProcess): Promise<Result> {
  let stdout = '';
  let stderr = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { code, stdout, stderr };
}

/** Waits for the process itself: what it left behind may hold its output open. */
export function ended(child: ChildProcess): Promise<{ code: number | null }> {
  return new Promise((resolve) => {
    child.on('exit', (code) => resolve({ code }));
  });
}

export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 150_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`Waited in vain for: ${String(condition)}`);
    await sleep(20);
  }
}

export function requirePid(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('The process did not start');
  return child.pid;
}

export function entries(...path: string[]): number {
  return readdirSync(join(...path)).length;
}

export function readLock(clone: string): number[] {
  const lock = join(clone, 'packages/copse/dist/.setup-lock');
  return existsSync(lock) ? readFileSync(lock, 'utf8').split(' ').map(Number) : [];
}

export function leftovers(clone: string): string[] {
  return readdirSync(join(clone, 'packages/copse/dist')).filter((name) => /lock|tmp/.test(name));
}

/** An npm whose `ci` takes its time and then links the packages of a clone that was really installed. */
export function standInForNpm({
  area,
  packages,
  seconds = 0,
  failure = '',
}: {
  area: string;
  packages: string;
  seconds?: number;
  failure?: string;
}): {
  env: NodeJS.ProcessEnv;
  calls: () => string[];
} {
  const dir = mkdtempSync(join(area, 'npm '));
  const log = join(dir, 'calls.log');
  const script = `#!/bin/sh
echo "$*" >> '${log}'
${failure === '' ? '' : `echo '${failure}' >&2; exit 1`}
rm -rf node_modules
mkdir node_modules
ln -s '${packages}'/node_modules/* '${packages}/node_modules/.bin' node_modules
rm -rf packages/copse/node_modules
ln -s '${packages}/packages/copse/node_modules' packages/copse/node_modules
sleep ${seconds}
cp package-lock.json node_modules/.package-lock.json
`;
  writeFileSync(join(dir, 'npm'), script);
  chmodSync(join(dir, 'npm'), 0o755);
  return {
    env: { PATH: `${dir}${delimiter}${systemEnv()['PATH']}` },
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
  };
}

/** A PATH with what any system has, git, and the given tools; `null` takes a tool away. */
export function pathWith(area: string, tools: Record<string, string | null>): NodeJS.ProcessEnv {
  const dir = mkdtempSync(join(area, 'path '));
  const all = { find: '', readlink: '', git: '#!/bin/sh\nexit 0\n', ...tools };
  for (const [name, script] of Object.entries(all)) {
    if (script === null) continue;
    if (script === '') symlinkSync(join('/usr/bin', name), join(dir, name));
    else writeFileSync(join(dir, name), script, { mode: 0o755 });
  }
  return { PATH: dir };
}
