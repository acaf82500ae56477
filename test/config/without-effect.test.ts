import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../packages/copse/src/config/parse.ts';
import { renderProblem } from '../../packages/copse/src/config/problems/problems.ts';
import { readYaml } from '../../packages/copse/src/config/problems/read.ts';
import {
  missingSettings,
  settingsWithoutEffect,
} from '../../packages/copse/src/config/problems/without-effect.ts';

function checked(text: string, by: typeof missingSettings): readonly string[] {
  const result = parseConfig(text, { file: 'copse.yml' });
  if (result.kind === 'invalid') throw new Error(result.problems.map(renderProblem).join('\n'));
  return by(result.config, readYaml(text), 'copse.yml').map(renderProblem);
}

// setting: agents.<name>.workspace.pool
describe('a setting without effect is named with its line and the reason', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    [
      'a pool of one agent',
      'agents:\n  c:\n    command: x\n    workspace:\n      pool: 2\n',
      [
        '5:7: agents.c.workspace.pool has no effect: the pool belongs to the repository, so write it under workspace.',
      ],
    ],
    [
      'a terminal and a price that the runtime does not have',
      'agents:\n  c:\n    runtime: codex\n    terminal: tmux\n    limits: { dollars: 3, tokens: 9 }\n',
      [
        '4:5: agents.c.terminal has no effect: the runtime codex runs without a terminal.',
        '5:15: agents.c.limits.dollars has no effect: the runtime codex does not learn what its program costs, so use limits.time or limits.tokens.',
      ],
    ],
    [
      'what a plain command cannot be told',
      'agents: { c: { command: x, model: m, permissions: all, limits: { tokens: 1, dollars: 1, time: 1h } } }\n',
      [
        '1:28: agents.c.model has no effect: the runtime command passes its program no model, so name it in agents.c.command.',
        '1:38: agents.c.permissions has no effect: the runtime command cannot limit its program, so use a sandbox.',
        '1:66: agents.c.limits.tokens has no effect: the runtime command does not learn what its program uses, so use limits.time.',
        '1:77: agents.c.limits.dollars has no effect: the runtime command does not learn what its program uses, so use limits.time.',
      ],
    ],
    [
      'a program of a runtime that brings its own',
      'agents: { c: { runtime: claude, command: x, prompt_by: stdin } }\n',
      [
        '1:33: agents.c.command has no effect: the runtime claude starts its own program.',
        '1:45: agents.c.prompt_by has no effect: the runtime claude always gives the prompt in its own way.',
      ],
    ],
    [
      'permissions of a sandbox that the agent does not have',
      'agents: { c: { command: x, sandbox_hosts: [a], sandbox_write: [b], sandbox_read: [c], docker: { image: d } } }\nlanding: { sandbox_hosts: [a] }\n',
      [
        '1:48: agents.c.sandbox_write has no effect: the sandbox of this agent is none.',
        '1:68: agents.c.sandbox_read has no effect: the sandbox of this agent is none.',
        '1:28: agents.c.sandbox_hosts has no effect: the sandbox of this agent is none.',
        '1:97: agents.c.docker.image has no effect: the sandbox of this agent is none.',
        '2:12: landing.sandbox_hosts has no effect: checks run without a sandbox here, so set landing.sandbox.',
      ],
    ],
    [
      'a branch of an agent in the main checkout',
      'agents: { c: { command: x, workspace: { strategy: static, setup: npm ci }, landing: { policy: review } } }\n',
      [
        '1:59: agents.c.workspace.setup has no effect: its workspace.strategy is static, so it has no branch and no worktree of its own.',
        '1:87: agents.c.landing.policy has no effect: its workspace.strategy is static, so it has no branch and no worktree of its own.',
      ],
    ],
  ];

  test.each(cases)('%s', (_, text, lines) => {
    expect(checked(text, settingsWithoutEffect)).toEqual(lines.map((line) => `copse.yml:${line}`));
  });

  test.each([
    [
      'a terminal and a price of claude',
      'agents: { c: { runtime: claude, terminal: tmux, limits: { dollars: 3 } } }\n',
    ],
    ['a plain agent', 'agents: { c: { runtime: codex, terminal: headless, limits: { tokens: 3 } } }\n'],
    [
      'a default that is inherited',
      'workspace: { pool: 2, setup: x }\nagents: { c: { workspace: { strategy: none } } }\n',
    ],
    [
      'a sandbox',
      'agents: { c: { command: x, sandbox: runtime, sandbox_hosts: [a] } }\nlanding: { pass_env: [A] }\n',
    ],
  ])('%s has its effect', (_, text) => {
    expect(checked(text, settingsWithoutEffect)).toEqual([]);
  });
});

test('a runtime without its program, and a container without its image, are mistakes', () => {
  const text =
    'agents:\n  a: { runtime: acp }\n  b: { runtime: command }\n  c: { sandbox: docker }\n  d: { runtime: acp, command: x, sandbox: docker, docker: { image: y } }\n';
  expect(checked(text, missingSettings)).toEqual([
    'copse.yml:2:8: agents.a.runtime is acp, which needs agents.a.command.',
    'copse.yml:3:8: agents.b.runtime is command, which needs agents.b.command.',
    'copse.yml:4:8: agents.c.sandbox is docker, which needs agents.c.docker.image.',
  ]);
});
