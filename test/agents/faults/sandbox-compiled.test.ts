/** Node runs what is in Copse's cache of compiled code, outside of every sandbox: no sandbox opens it, whatever a person opened. */

import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { dockerSandbox } from '../../../packages/copse/src/agents/sandbox/docker.ts';
import { type SandboxSettings, runtimeSandbox } from '../../../packages/copse/src/agents/sandbox/runtime.ts';
import { type AttemptId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import type { Confinable } from '../../../packages/copse/src/processes/ports/programs.ts';
import { newArea, newRepository } from '../../support/cli.ts';

const area = newArea();
const cwd = newRepository(area);
const home = path.join(area, 'home');
const caches = path.join(home, '.cache');
const compiled = path.join(caches, 'copse-compiled');
mkdirSync(compiled, { recursive: true });

const program: Confinable = {
  argv: ['sh'],
  folder: cwd,
  environment: { COPSE_TASK_ID: 'cp-a1b2', HOME: home, PATH: process.env['PATH'] ?? '' },
  attempt: brand<AttemptId>('at-1'),
};

function settingsFor(write: readonly string[]): SandboxSettings {
  return {
    repository: { commonDir: path.join(cwd, '.git'), home: cwd },
    root: cwd,
    folder: path.join(area, 'own'),
    runtime: undefined,
    command: '',
    hosts: [],
    write,
    read: [],
    worktreeFolder: path.join(cwd, '.worktrees'),
    userHome: home,
    variables: {},
    teardowns: undefined,
    tokens: undefined,
    compiled,
    find: () => undefined,
  };
}

/** What the sandbox keeps read-only. */
const kinds: Readonly<Record<string, (write: readonly string[]) => readonly string[]>> = {
  runtime(write) {
    const { argv } = runtimeSandbox({ ...settingsFor(write), srt: '/srt' }).wrap(program);
    const file = argv[argv.indexOf('--settings') + 1] ?? '';
    const { filesystem } = JSON.parse(readFileSync(file, 'utf8')) as {
      filesystem: { denyWrite: readonly { path: string }[] };
    };
    return filesystem.denyWrite.map((one) => one.path);
  },
  docker(write) {
    const { argv } = dockerSandbox({ ...settingsFor(write), image: 'x', variables: {} }).wrap(program);
    const readOnly = argv.filter((word) => word.startsWith('--mount=') && word.endsWith(',readonly'));
    return readOnly.map((word) => /target=(.*),readonly$/.exec(word)?.[1] ?? '');
  },
};

// promise: sandbox-files
it.each(Object.entries(kinds))('%s keeps it read-only inside of a folder that a person opened', (_, kept) => {
  expect(kept([caches])).toContain(compiled);
  expect(kept([home])).toContain(compiled);
  expect(kept(['~/.cache'])).toContain(compiled);
  expect(kept([cwd])).not.toContain(compiled);
});

it.each(Object.entries(kinds))('%s is not started when a person opened that very folder', (_, kept) => {
  mkdirSync(path.join(compiled, 'v1'), { recursive: true });
  for (const place of [compiled, path.join(compiled, 'v1')])
    expect(() => kept([place])).toThrow('remove it from `sandbox_write`');
});

it.each(Object.entries(kinds))(
  '%s is not started when the folder is a link that an agent could replace',
  (_, kept) => {
    rmSync(compiled, { recursive: true });
    symlinkSync(area, compiled);
    expect(() => kept([caches])).toThrow('is not a folder');
    rmSync(compiled);
    mkdirSync(compiled);
  },
);
