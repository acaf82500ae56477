/** Which variables of a person an agent gets. */

import { describe, expect, test } from 'vitest';

import {
  type AgentProgram,
  agentVariables,
} from '../../../packages/copse/src/agents/rules/session/agent-variables.ts';

const claude: AgentProgram = { runtime: 'claude', command: '', model: undefined };

function namesFor(
  names: readonly string[],
  program: AgentProgram,
  more: { readonly pass?: readonly string[]; readonly board?: string } = {},
): readonly string[] {
  const all = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
  return Object.keys(agentVariables(all, { program, pass: [], board: undefined, ...more }));
}

describe('an agent', () => {
  // promise: agents-without-secrets
  test('gets nothing that opens the board or the remote', () => {
    const secret = [
      'COPSE_BOARD',
      'COPSE_FORGE_TOKEN',
      'PGPASSWORD',
      'PGPASSFILE',
      'GIT_ASKPASS',
      'GIT_SSH',
      'GIT_SSH_COMMAND',
      'GIT_CONFIG_COUNT',
      'GIT_CONFIG_KEY_0',
      'GIT_CONFIG_VALUE_0',
      'GIT_CONFIG_PARAMETERS',
      'GIT_PROXY_COMMAND',
      'GIT_DIR',
      'SSH_AUTH_SOCK',
      'SSH_ASKPASS',
      'GH_TOKEN',
      'GITHUB_TOKEN',
      'GH_ENTERPRISE_TOKEN',
      'GITHUB_PERSONAL_ACCESS_TOKEN',
      'GITLAB_TOKEN',
      'CI_JOB_TOKEN',
      'BITBUCKET_APP_PASSWORD',
    ];
    expect(namesFor(secret, claude)).toEqual([]);
  });

  test('gets everything else, and who commits', () => {
    const plain = [
      'PATH',
      'HOME',
      'LANG',
      'NODE_OPTIONS',
      'NPM_TOKEN',
      'GIT_AUTHOR_NAME',
      'GIT_COMMITTER_EMAIL',
      'GIT_EDITOR',
      'GIT_CONFIG_GLOBAL',
      'GITHUB_ACTIONS',
      'CLAUDE_CONFIG_DIR',
      'OPENAI_BASE_URL',
      'KEYBOARD',
    ];
    expect(namesFor(plain, claude)).toEqual(plain);
  });

  const keys = [
    'ANTHROPIC_API_KEY',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'OPENAI_API_KEY',
    'GEMINI_API_KEY',
    'GROQ_API_KEY',
  ];
  const anthropic = keys.slice(0, 2);

  test.each<[AgentProgram, readonly string[]]>([
    [claude, anthropic],
    [{ ...claude, runtime: 'claude-sdk' }, anthropic],
    [{ ...claude, runtime: 'codex' }, ['OPENAI_API_KEY']],
    [{ ...claude, runtime: 'gemini' }, ['GEMINI_API_KEY']],
    [{ ...claude, runtime: 'opencode' }, keys],
    [{ ...claude, runtime: 'opencode', model: 'openai/gpt-5.5' }, ['OPENAI_API_KEY']],
    [{ ...claude, runtime: 'opencode', model: 'groq/fast' }, ['GROQ_API_KEY']],
    [{ ...claude, runtime: 'acp', command: 'codex-acp' }, ['OPENAI_API_KEY']],
    [{ ...claude, runtime: 'command', command: 'claude -p' }, anthropic],
    [{ ...claude, runtime: 'command', command: './agent.sh' }, []],
  ])('of %o gets the keys of its own provider only', (program, expected) => {
    expect(namesFor(keys, program)).toEqual(expected);
  });

  test('gets what a person passes to it, but for the board', () => {
    const names = ['GH_TOKEN', 'OPENAI_API_KEY', 'COPSE_BOARD', 'GIT_DIR', 'SSH_AUTH_SOCK'];
    expect(namesFor(names, claude, { pass: names })).toEqual(['GH_TOKEN', 'OPENAI_API_KEY', 'SSH_AUTH_SOCK']);
  });

  test('gets no variable in which the board’s address or password is', () => {
    const board = 'postgres://team:s3cret-word@db.example/board';
    const all = { DATABASE_URL: board, MY_PASSWORD: 's3cret-word', OTHER: 'db.example' };
    expect(agentVariables(all, { program: claude, pass: [], board })).toEqual({ OTHER: 'db.example' });
  });
});
