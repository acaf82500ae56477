// A repository in a scratch folder for pictures, with the launcher of this clone on the PATH: no path of this machine is to be seen.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Scene {
  readonly folder: string;
  readonly repository: string;
  /** The launcher. */
  readonly copse: string;
  readonly env: NodeJS.ProcessEnv;
  readonly run: (program: string, ...argv: readonly string[]) => string;
  readonly remove: () => void;
}

/** `titles`: of one task for each agent. */
export function makeScene(
  files: Readonly<Record<string, string>>,
  titles: Readonly<Record<string, string>>,
): Scene {
  const folder = mkdtempSync(path.join(tmpdir(), 'copse-picture-'));
  const repository = path.join(folder, 'thermo');
  const programs = path.join(folder, 'bin');
  const copse = path.join(programs, 'copse');
  const env = { ...process.env, PATH: `${programs}${path.delimiter}${process.env['PATH'] ?? ''}` };
  const run = (program: string, ...argv: readonly string[]) =>
    execFileSync(program, argv, {
      cwd: repository,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  mkdirSync(programs);
  symlinkSync(path.join(root, 'copse'), copse);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(repository, name)), { recursive: true });
    writeFileSync(path.join(repository, name), text);
  }
  run('git', 'init', '--quiet', '--initial-branch=main');
  for (const [name, value] of [
    ['user.name', 'Ada'],
    ['user.email', 'ada@example.invalid'],
  ] as const)
    run('git', 'config', name, value);
  run('git', 'add', '--all');
  run('git', 'commit', '--quiet', '--message=chore: begin');
  for (const [agent, title] of Object.entries(titles)) run(copse, 'add', title, '--agent', agent);
  return {
    folder,
    repository,
    copse,
    env,
    run,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
