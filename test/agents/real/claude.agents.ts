/** Claude Code itself, without a terminal and in tmux. */

import { execFileSync } from 'node:child_process';

import { afterAll } from 'vitest';

import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import { claudeRuntime } from '../../../packages/copse/src/agents/runtimes/claude/runtime.ts';
import type { Runtime } from '../../../packages/copse/src/agents/ports/runtime.ts';
import { openAsks } from '../../../packages/copse/src/agents/files/asks.ts';
import { type AgentSettings, type Harness, describeRuntime } from './contract.ts';
import { commandOf } from './programs.ts';

const socket = `copse-claude-${process.pid}`;
const programs = openPrograms({ tmux: { socket } });
let terminals = 0;

afterAll(() => {
  try {
    execFileSync('tmux', ['-L', socket, 'kill-server'], { stdio: 'ignore' });
  } catch {
    // Its last session ended, and it with it.
  }
});

/** A runner has one attempt, whose name its asks have; here each turn is one. */
function make(settings: AgentSettings): Runtime {
  const { capabilities } = claudeRuntime(settings, programs, openAsks('none'));
  const own = { ...settings, command: commandOf('claude') };
  return {
    capabilities,
    start: (turn) => claudeRuntime(own, programs, openAsks(turn.attempt)).start(turn),
  };
}

const harness: Harness = {
  program: 'claude',
  make,
  makeMissing: () =>
    claudeRuntime({ permissions: 'all', command: ['no-such-claude'] }, programs, openAsks('none')),
  environment: { CLAUDE_CODE_MAX_RETRIES: '1' },
  tries: 12,
  contextTokens: 1_000_000,
};

describeRuntime('claude without a terminal', harness);

describeRuntime('claude in tmux', {
  ...harness,
  terminal: () => {
    terminals += 1;
    return `copse-claude-${terminals}`;
  },
});
