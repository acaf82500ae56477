import { describe, expect, it } from 'vitest';

import type { RuntimeName } from '../../../packages/copse/src/agents/rules/runtimes.ts';
import { type BranchName, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import {
  hasOwnNamespace,
  hostsFor,
  isLoopback,
  ownNamespace,
  programWriteSet,
  worktreeWriteSet,
} from '../../../packages/copse/src/agents/rules/session/sandbox.ts';

const task = brand<TaskId>('cp-a1b2');

describe('branches in a folder of their task', () => {
  it.each([
    ['cp-a1b2/work', 'cp-a1b2'],
    ['agents/cp-a1b2/work', 'agents/cp-a1b2'],
    ['cp-a1b2/by/work', 'cp-a1b2/by'],
    ['cp-a1b2', undefined],
    ['work/cp-a1b2', undefined],
    ['cp-a1b2-work', undefined],
    ['cp-a1b22/work', undefined],
    ['main', undefined],
  ])('%s is in %s', (branch, namespace) => {
    expect(ownNamespace(brand<BranchName>(branch), task)).toBe(namespace);
  });

  it.each([
    ['{task}/{slug}', true],
    ['agents/{task}/{slug}', true],
    ['{task}', false],
    ['{task}-{slug}', false],
    ['copse/{task}-{slug}', false],
    ['copse/{task}', false],
    ['{agent}/{slug}', false],
  ])('every branch of the pattern %s is: %s', (pattern, has) => {
    expect(hasOwnNamespace(pattern)).toBe(has);
  });
});

// promise: sandbox-files
it.each([true, false])(
  'the sandbox never opens all branches, packed refs, the configuration or hooks (objects shared: %s)',
  (sharesObjects) => {
    const places = {
      worktree: '/w',
      gitDir: '/r/.git/worktrees/cp-a1b2',
      commonDir: '/r/.git',
      namespace: 'cp-a1b2',
      sharesObjects,
    };
    const { write, keep } = worktreeWriteSet(places);
    const closed = [
      'config',
      'hooks',
      'packed-refs',
      'HEAD',
      'refs/heads/main',
      'refs/heads/cp-other/work',
      'worktrees/other',
      ...(sharesObjects ? [] : ['objects', 'objects/ab/cd']),
    ];
    const opened = closed.filter((name) =>
      write.some((open) => `/r/.git/${name}` === open || `/r/.git/${name}`.startsWith(`${open}/`)),
    );
    expect(opened).toEqual([]);
    expect(keep.every((kept) => write.some((open) => kept.startsWith(`${open}/`)))).toBe(true);
  },
);

describe('hosts', () => {
  const facts = (runtime: RuntimeName, environment: Record<string, string> = {}, command = '') => ({
    runtime,
    command,
    environment,
    home: '/home/ada',
  });

  // promise: sandbox-network
  it('are the vendor’s own, the model’s address with its port, and those a person allowed', () => {
    expect(hostsFor(facts('claude'), [])).toContain('api.anthropic.com');
    expect(hostsFor(facts('codex'), [])).toContain('api.openai.com');
    expect(hostsFor(facts('command'), ['example.org'])).toEqual(['example.org']);
    expect(hostsFor(facts('acp', {}, 'codex-acp'), [])).toContain('api.openai.com');
    const url = {
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:8080/s/key',
      OPENAI_BASE_URL: 'https://u:p@Models.Example.org/v1',
    };
    expect(hostsFor(facts('command', url), [])).toEqual(['127.0.0.1:8080', 'models.example.org:443']);
  });

  it('do not come from other variables, or from an invalid address', () => {
    expect(
      hostsFor(facts('command', { COPSE_BOARD: 'postgres://localhost:5432/x', APP_URL: 'http://a.b' }), []),
    ).toEqual([]);
    expect(hostsFor(facts('command', { ANTHROPIC_BASE_URL: 'file:///x' }), [])).toEqual([]);
  });

  it.each([
    ['127.0.0.1:80', true],
    ['localhost', true],
    ['[::1]:9', true],
    ['localhost.example.org', false],
    ['10.0.0.1', false],
  ])('%s is on this machine: %s', (host, is) => expect(isLoopback(host)).toBe(is));
});

it('the sandbox opens a program’s conversations, and not its settings', () => {
  const environment = { CLAUDE_CONFIG_DIR: '/c' };
  const { folders, files } = programWriteSet({ runtime: 'claude', command: '', environment, home: '/h' });
  expect(folders).toContain('/c/projects');
  for (const kept of [
    '/c',
    '/c/settings.json',
    '/c/plugins',
    '/c/commands',
    '/c/agents',
    '/c/skills',
    '/c/hooks',
    '/c/.claude.json',
  ])
    expect([...folders, ...files]).not.toContain(kept);
  const codex = programWriteSet({ runtime: 'codex', command: '', environment: {}, home: '/h' });
  expect(codex.folders).toContain('/h/.codex/sessions');
  expect([...codex.folders, ...codex.files]).not.toContain('/h/.codex/config.toml');
});
