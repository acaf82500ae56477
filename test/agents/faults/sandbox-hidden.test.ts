/** What a sandbox hides: the keys of the person, wherever the person or the agent's settings say that they are. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import type { RuntimeName } from '../../../packages/copse/src/agents/rules/runtimes.ts';
import { runtimeSandbox } from '../../../packages/copse/src/agents/sandbox/runtime.ts';
import { type AttemptId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { newArea, newRepository } from '../../support/cli.ts';

const area = newArea();
const cwd = newRepository(area);
const home = path.join(area, 'home');
const elsewhere = path.join(area, 'elsewhere');

function put(...names: readonly string[]): string {
  const file = path.join(...(names as [string]));
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, 'secret\n');
  return file;
}

/** What the program of this runtime cannot read. */
function hiddenFrom(
  runtime: RuntimeName,
  environment: Record<string, string>,
  variables: Record<string, string>,
) {
  const { argv } = runtimeSandbox({
    repository: { commonDir: path.join(cwd, '.git'), home: cwd },
    root: cwd,
    folder: path.join(area, 'own'),
    runtime,
    command: '',
    hosts: [],
    write: [],
    read: [],
    worktreeFolder: path.join(cwd, '.worktrees'),
    userHome: home,
    variables,
    teardowns: undefined,
    tokens: path.join(home, '.cache', 'copse-serve'),
    compiled: undefined,
    find: () => undefined,
    srt: '/srt',
  }).wrap({
    argv: ['sh'],
    folder: cwd,
    environment: { COPSE_TASK_ID: 'cp-a1b2', HOME: home, PATH: process.env['PATH'] ?? '', ...environment },
    attempt: brand<AttemptId>('at-1'),
  });
  const file = argv[argv.indexOf('--settings') + 1] ?? '';
  const { filesystem } = JSON.parse(readFileSync(file, 'utf8')) as {
    filesystem: { denyRead: readonly { path: string }[] };
  };
  return filesystem.denyRead.map((one) => one.path);
}

// promise: sandbox-hidden
it('the keys of the person are hidden from an agent that has a home of its own', () => {
  put(home, '.ssh', 'id_ed25519');
  const own = path.dirname(put(area, 'own home', '.ssh', 'id_ed25519'));
  const hidden = hiddenFrom('claude', { HOME: path.dirname(own) }, { HOME: home });
  expect(hidden).toContain(path.join(home, '.ssh'));
  expect(hidden).toContain(own);
});

// promise: sandbox-hidden, agents-without-secrets
it('the tokens of npm are hidden, also where a variable says that they are', () => {
  const usual = put(home, '.npmrc');
  const named = put(elsewhere, 'npm settings');
  expect(hiddenFrom('claude', {}, { NPM_CONFIG_USERCONFIG: named })).toEqual(
    expect.arrayContaining([usual, named]),
  );
});

// promise: sandbox-hidden, agents-without-secrets
it('keys and logins are hidden also where a variable of the person says that they are', () => {
  const variables = {
    CODEX_HOME: path.dirname(put(elsewhere, 'codex', 'auth.json')),
    CLAUDE_CONFIG_DIR: path.dirname(put(elsewhere, 'claude', '.credentials.json')),
    GH_CONFIG_DIR: path.dirname(put(elsewhere, 'gh', 'hosts.yml')),
    GNUPGHOME: path.dirname(put(elsewhere, 'gnupg', 'key')),
    PGPASSFILE: put(elsewhere, 'pgpass'),
    KUBECONFIG: `${put(elsewhere, 'kube one')}:${put(elsewhere, 'kube two')}`,
    NETRC: '/dev/null',
    DOCKER_CONFIG: area,
  };
  const glab = path.dirname(put(elsewhere, 'config', 'glab-cli', 'config.yml'));
  const hidden = hiddenFrom('claude', {}, { ...variables, XDG_CONFIG_HOME: path.join(elsewhere, 'config') });
  const { CODEX_HOME, GH_CONFIG_DIR, GNUPGHOME, PGPASSFILE } = variables;
  const kube = [path.join(elsewhere, 'kube one'), path.join(elsewhere, 'kube two')];
  expect(hidden).toEqual(
    expect.arrayContaining([CODEX_HOME, GH_CONFIG_DIR, GNUPGHOME, PGPASSFILE, ...kube, glab]),
  );
  // Its own login, no file of the system, and nothing around the repository or the home.
  for (const place of [variables.CLAUDE_CONFIG_DIR, '/dev/null', area]) expect(hidden).not.toContain(place);
});

// promise: sandbox-hidden, server-secrets
it('the tokens of running servers are hidden', () => {
  const tokens = path.dirname(put(home, '.cache', 'copse-serve', '127.0.0.1-4747.header'));
  expect(hiddenFrom('claude', {}, {})).toContain(tokens);
});
