/** deploy/: the script of a node and the git server of compose.yaml, run without containers. */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { expect, inject, it } from 'vitest';
import { parse } from 'yaml';

import { shellQuoted } from '../../../packages/copse/src/kernel/shell.ts';
import { cliFile, copse, git, newArea, plainEnv } from '../../support/cli.ts';
import { freePort } from '../../support/board/postgres.ts';
import { closeAtEnd } from '../../support/close-at-end.ts';
import { runGit } from '../../support/git/git-shell.ts';

const area = newArea();
const inDeploy = (name: string) => fileURLToPath(new URL(`../../../deploy/${name}`, import.meta.url));

it('a node of deploy/ clones from the git server of compose.yaml, joins, and ends when it is told to stop', async () => {
  const remote = await serveGit();
  await until(() => runGit({ cwd: area, argv: ['ls-remote', '--exit-code', remote, 'main'] }).status === 0);
  const seed = path.join(area, 'seed');
  git(area, 'clone', '--quiet', remote, seed);
  writeFileSync(
    path.join(seed, 'copse.yml'),
    'agents: { worker: { command: "true" } }\nlanding: { push: true }\n',
  );
  git(seed, 'add', '--all');
  git(seed, 'commit', '--quiet', '--message=settings');
  git(seed, 'push', '--quiet');

  const clone = path.join(area, 'srv', 'clone');
  mkdirSync(path.dirname(clone));
  const board = { COPSE_BOARD: `${inject('postgresUrl')}?schema=t_${randomBytes(6).toString('hex')}` };
  const env = { ...plainEnv, ...board, PATH: `${withCopse()}:${plainEnv['PATH']}` };
  const told = { COPSE_REMOTE: remote, COPSE_CLONE: clone, COPSE_NODE_NAME: 'node-1' };
  const node = start(inDeploy('copse-node'), ['--slots', '2'], { ...env, ...told });
  const nodes = async () => (await copse(['node', 'list', '--json'], { cwd: seed, env: board })).stdout;
  await until(async () => (await nodes()).includes('"node-1"'), node);
  expect(existsSync(path.join(clone, 'copse.yml'))).toBe(true);
  node.child.kill('SIGTERM');
  expect({ code: await node.ended, said: node.said() }).toMatchObject({ code: 0 });

  const without = start(inDeploy('copse-node'), [], { ...env, COPSE_CLONE: path.join(area, 'none') });
  expect(await without.ended).not.toBe(0);
  expect(without.said()).toContain('COPSE_REMOTE');
});

/** The command of the service `git`, with another folder and a port of its own. */
async function serveGit(): Promise<string> {
  const { services } = parse(readFileSync(inDeploy('compose.yaml'), 'utf8'), { merge: true }) as {
    readonly services: { readonly git: { readonly command: readonly [string, string, string] } };
  };
  const [shell, flag, script] = services.git.command;
  const base = path.join(area, 'git');
  mkdirSync(base);
  const port = await freePort();
  const here = script
    .replaceAll('$$', () => '$')
    .replaceAll('/srv/copse', () => shellQuoted(base))
    .replace('git daemon', `git daemon --listen=127.0.0.1 --port=${port}`);
  const { child } = start(shell, [flag, here], plainEnv);
  // The daemon is a child of git, and both end with their group.
  closeAtEnd(() => child.pid && process.kill(-child.pid, 'SIGKILL'));
  return `git://127.0.0.1:${port}/project.git`;
}

function start(program: string, argv: readonly string[], env: Readonly<Record<string, string>>) {
  const child: ChildProcess = spawn(program, argv, { cwd: area, env, detached: true });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, ended, said: () => text };
}

/** A folder with a program `copse`. */
function withCopse(): string {
  const folder = path.join(area, 'bin');
  mkdirSync(folder);
  const file = path.join(folder, 'copse');
  writeFileSync(file, `#!/bin/sh\nexec ${shellQuoted(process.execPath)} ${shellQuoted(cliFile)} "$@"\n`);
  chmodSync(file, 0o755);
  return folder;
}

async function until(isSo: () => boolean | Promise<boolean>, node?: ReturnType<typeof start>): Promise<void> {
  for (const began = performance.now(); !(await isSo()); await sleep(50))
    if (performance.now() - began > 60_000 || (node && node.child.exitCode !== null))
      throw new Error(node?.said() ?? `It never was so: ${String(isSo)}`);
}
