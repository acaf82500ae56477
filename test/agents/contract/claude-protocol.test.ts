/**
 * The runtime of Claude Code without Claude Code: programs that say what it said in real runs, which are recorded in
 * samples/ and which test/agents/real keeps honest.
 */

import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect, test } from 'vitest';

import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import { claudeRuntime } from '../../../packages/copse/src/agents/runtimes/claude/runtime.ts';
import {
  type ClaudeSettings,
  argumentsOf,
  plainPrompt,
} from '../../../packages/copse/src/agents/runtimes/claude/arguments.ts';
import { answerHooks } from '../../../packages/copse/src/agents/runtimes/claude/hooks.ts';
import { ClaudeReader } from '../../../packages/copse/src/agents/runtimes/claude/messages.ts';
import type { Fields } from '../../../packages/copse/src/agents/runtimes/fields.ts';
import {
  ClaudeRecord,
  ClaudeStatus,
  failureResult,
  messageOfEntry,
} from '../../../packages/copse/src/agents/runtimes/claude/record.ts';
import { trustFolder } from '../../../packages/copse/src/agents/runtimes/claude/trust.ts';
import { openTranscript } from '../../../packages/copse/src/agents/runtimes/transcript.ts';
import { openAsks } from '../../../packages/copse/src/agents/files/asks.ts';
import { addUsage, noUsage } from '../../../packages/copse/src/kernel/usage.ts';
import type {
  Ask,
  PermissionRequest,
  RuntimeEvent,
  StopAnswer,
  Turn,
} from '../../../packages/copse/src/agents/ports/runtime.ts';
import { newArea } from '../../support/cli.ts';
import { endTurns, newTurn, printedIn } from '../../support/records/turns.ts';

const area = newArea();
const samples = fileURLToPath(new URL('samples/', import.meta.url));
let folders = 0;

afterEach(endTurns);

function newFolder(): string {
  folders += 1;
  const folder = path.join(area, `ordner ö ${folders}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function sample(name: string): string {
  return path.join(samples, `claude-${name}`);
}

function linesOf(name: string): readonly Fields[] {
  const lines = readFileSync(sample(name), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Fields);
}

function usedIn(events: readonly RuntimeEvent[]) {
  return events.reduce((sum, event) => (event.type === 'usage' ? addUsage(sum, event.usage) : sum), noUsage);
}

/** A turn of a program that prints what is in a file, and then does as the shell line says. */
async function played(name: string, then: string, changes: Partial<Turn> = {}) {
  const events: RuntimeEvent[] = [];
  const turn = newTurn(area, { on: (event) => void events.push(event), ...changes });
  const command = ['sh', '-c', `cat "$0"; ${then}`, sample(name)] as const;
  const runtime = claudeRuntime({ permissions: 'all', command }, openPrograms(), openAsks(turn.attempt));
  const running = await runtime.start(turn);
  return { outcome: await running.ended, events, turn };
}

describe('a program without a terminal', () => {
  test('reports its steps, its usage and its end', async () => {
    const { outcome, events, turn } = await played('work.jsonl', 'exit 0');
    expect(outcome).toEqual({ kind: 'completed', exitCode: 0, lastWords: 'Now it is.' });
    expect(usedIn(events)).toMatchObject({ input: 6_000, cached: 500, output: 60 });
    expect(usedIn(events).dollars).toBeCloseTo(0.0253);
    expect(events.at(-1)).toEqual({ type: 'context', share: expect.closeTo(0.003, 3) });
    expect(printedIn(turn)).toContain('• Bash echo hello > hello.txt\nAll is done.\nNow it is.\n');
    const raw = turn.log.replace(/\.log$/, '.jsonl');
    expect(readFileSync(raw, 'utf8')).toBe(readFileSync(sample('work.jsonl'), 'utf8'));
  });

  test('reports its conversation before anything runs', async () => {
    const { events } = await played('limit.jsonl', 'exit 1');
    expect(events[0]).toEqual({ type: 'conversation', id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  test('does not count as finished when its process fails after the result', async () => {
    const { outcome } = await played('work.jsonl', 'echo broken pipe >&2; exit 3');
    expect(outcome).toEqual({
      kind: 'crashed',
      exitCode: 3,
      reason: expect.stringContaining('exit code 3\nbroken pipe'),
    });
    expect((await played('work.jsonl', 'kill -9 $$')).outcome).toMatchObject({
      kind: 'crashed',
      exitCode: null,
    });
  });

  test('has crashed when it ends without a result, with any exit code', async () => {
    const { outcome } = await played('terminal.jsonl', 'echo "No conversation found"; exit 0');
    expect(outcome).toEqual({
      kind: 'crashed',
      exitCode: 0,
      reason: 'Claude Code ended without a result\nNo conversation found',
    });
  });

  test('reports a limit and the time at which it lifts', async () => {
    const { outcome, turn } = await played('limit.jsonl', 'exit 1');
    expect(outcome).toMatchObject({ kind: 'limit', until: expect.any(Number) });
    expect(printedIn(turn)).toContain('– The model answers with status 429: retry 1 of 1 in 1 s.');
  });

  test('gets its prompt by a private file that is removed afterwards', async () => {
    const turn = newTurn(area, { prompt: '/compact is a word here' });
    const heard = path.join(newFolder(), 'heard');
    const command = ['sh', '-c', 'cat > "$0"', heard] as const;
    const runtime = claudeRuntime({ permissions: 'all', command }, openPrograms(), openAsks(turn.attempt));
    await (
      await runtime.start(turn)
    ).ended;
    expect(readFileSync(heard, 'utf8')).toBe('Your instructions:\n\n/compact is a word here');
    expect(existsSync(`${turn.log}.input`)).toBe(false);
    expect(existsSync(path.join(turn.folder, '.copse', 'asks'))).toBe(false);
  });
});

describe('its hooks', () => {
  const answers = (may: readonly StopAnswer[]) => {
    const left = [...may];
    return () => Promise.resolve(left.shift() ?? ({ kind: 'allowed' } as const));
  };

  test.each(['work', 'asked', 'terminal', 'terminal-limit'])(
    'get the answers of the recorded run %s',
    async (name) => {
      const asked: PermissionRequest[] = [];
      const turn = newTurn(area, {
        beforeStop: answers([{ kind: 'refused', reason: 'The gate says no.' }]),
        mayUse: (permission) => {
          asked.push(permission);
          return Promise.resolve({ isAllowed: false, message: 'Ada says no.' });
        },
      });
      const answer = answerHooks(turn, name === 'asked' ? 'ask' : 'all');
      for (const line of linesOf(`${name}-asks.jsonl`))
        expect(await answer(line['ask'] as Ask)).toEqual(line['answer']);
      expect(asked).toEqual(name === 'asked' ? [{ tool: 'Bash', what: 'mkdir forbidden' }] : []);
    },
  );

  const permission = linesOf('asked-asks.jsonl')[0]!['ask'] as Ask;

  test('allow what the policy allows, and never answer a question to a person', async () => {
    const turn = newTurn(area, { mayUse: () => Promise.reject(new Error('No person is asked')) });
    expect(await answerHooks(turn, 'all')(permission)).toMatchObject({
      hookSpecificOutput: { decision: { behavior: 'allow' } },
    });
    const question = {
      ...permission,
      input: { ...(permission.input as Fields), tool_name: 'AskUserQuestion' },
    };
    expect(await answerHooks(turn, 'all')(question)).toBeNull();
  });

  test('let it stop when the gate cannot be asked', async () => {
    const turn = newTurn(area, { beforeStop: () => Promise.reject(new Error('broken')) });
    expect(await answerHooks(turn, 'all')({ kind: 'stop', input: {} })).toBeNull();
  });
});

describe('its command line', () => {
  const words = (settings: ClaudeSettings, changes: Partial<Turn> = {}) =>
    argumentsOf(settings, newTurn(area, changes), { id: 'an-id', isKnown: false });

  test.each<[ClaudeSettings['permissions'], string, string]>([
    ['ask', 'manual', '--allowedTools=mcp__copse'],
    [
      'accept_edits',
      'acceptEdits',
      '--allowedTools=Bash(git add:*),Bash(git commit:*),Bash(copse:*),mcp__copse',
    ],
    ['all', 'acceptEdits', '--allowedTools=Bash,WebFetch,WebSearch,mcp__copse'],
    [{ allow: ['Edit', 'Bash(npm test:*)'] }, 'manual', '--allowedTools=Edit,Bash(npm test:*),mcp__copse'],
  ])('has the policy %j as the mode %s', (permissions, mode, allowed) => {
    const argv = words({ permissions });
    expect(argv[argv.indexOf('--permission-mode') + 1]).toBe(mode);
    expect(argv.find((word) => word.startsWith('--allowedTools'))).toBe(allowed);
  });

  test('adds the agent’s own text to the system prompt, and resumes a known conversation', () => {
    const settings: ClaudeSettings = { permissions: 'all', systemPrompt: 'Be brief.' };
    const argv = words(settings, { systemPrompt: 'Reports go there.' });
    expect(argv[argv.indexOf('--append-system-prompt') + 1]).toBe('Be brief.\n\nReports go there.');
    expect(argv).toContain('--session-id');
    expect(argumentsOf(settings, newTurn(area), { id: 'an-id', isKnown: true }).slice(0, 2)).toEqual([
      '--resume',
      'an-id',
    ]);
  });

  test('has hooks that cannot fail, with a timeout longer than theirs', () => {
    const argv = words({ permissions: 'all' }, { terminal: 'copse-cp-1' });
    const { hooks } = JSON.parse(argv[argv.indexOf('--settings') + 1]!) as {
      hooks: Record<string, [{ hooks: [{ command: string; timeout: number }] }]>;
    };
    expect(Object.keys(hooks).toSorted()).toEqual([
      'Notification',
      'PermissionRequest',
      'Stop',
      'StopFailure',
    ]);
    for (const [
      {
        hooks: [hook],
      },
    ] of Object.values(hooks)) {
      const [, seconds] = /^copse hook \w+ --timeout (\d+) \|\| true$/.exec(hook.command) ?? [];
      expect(hook.timeout).toBeGreaterThan(Number(seconds));
    }
  });

  test.each(['/clear', '  !rm -rf .', '#remember'])(
    'passes the prompt %j as a prompt, not as a command',
    (prompt) => {
      expect(plainPrompt(prompt)).toMatch(/^Your instructions:/);
      expect(plainPrompt('Do it.')).toBe('Do it.');
    },
  );
});

describe('a program in a terminal', () => {
  test('reports steps and usage from its record, and none of an earlier turn', async () => {
    const folder = newFolder();
    const events: RuntimeEvent[] = [];
    const log = path.join(folder, 'at-1.log');
    const reader = new ClaudeReader({
      used: noUsage,
      on: (event) => void events.push(event),
      transcript: openTranscript(log),
      windows: new Map(),
    });
    const lines = linesOf('terminal.jsonl');
    const begun = Date.parse(String(lines.find(({ type }) => type === 'user')!['timestamp']));
    const record = new ClaudeRecord(begun, (entry) => reader.take(messageOfEntry(entry)));
    const file = path.join(folder, 'conversation.jsonl');
    record.isAt(file);
    const past = lines.map((line) => ({ ...line, timestamp: '2020-01-01T00:00:00.000Z' }));
    writeFileSync(file, [...past, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''));
    await sleep(400);
    record.stop();
    expect(usedIn(events)).toEqual({ input: 6_000, cached: 500, output: 60, dollars: null });
    expect(readFileSync(log, 'utf8')).toBe('• Bash echo hello > hello.txt\nAll is done.\nNow it is.\n');
  });

  test('reports the cost of this turn and how full its context is, from its status line', () => {
    const file = path.join(newFolder(), 'status');
    const events: RuntimeEvent[] = [];
    const seen: unknown[] = [];
    const before = { ...noUsage, dollars: 0.01 };
    const status = new ClaudeStatus(
      file,
      before,
      (event) => void events.push(event),
      (one) => void seen.push(one),
    );
    status.look();
    expect(seen).toEqual([]);
    writeFileSync(file, readFileSync(sample('terminal-status.json')));
    status.look();
    status.look();
    status.stop();
    expect(usedIn(events).dollars).toBeCloseTo(0.0253 - 0.01);
    expect(events.at(-1)).toEqual({ type: 'context', share: expect.closeTo(0.00303, 5) });
    expect(seen).toEqual([{ record: expect.stringMatching(/\.jsonl$/), dollars: 0.0253 }]);
  });

  test('reports a limit by its hook, with or without its record', () => {
    const { input } = linesOf('terminal-limit-asks.jsonl')[0]!['ask'] as Ask;
    const entry = linesOf('terminal-limit.jsonl').find((line) => line['isApiErrorMessage'] === true);
    expect(entry).toBeDefined();
    for (const known of [entry, undefined]) {
      const reader = new ClaudeReader({
        used: noUsage,
        on: () => {},
        transcript: openTranscript(path.join(newFolder(), 'at-1.log')),
        windows: new Map(),
      });
      reader.take(failureResult(input, known));
      expect(reader.outcome()).toMatchObject({ kind: 'limit', reason: expect.stringContaining('429') });
    }
  });
});

describe('the answer that a folder is trusted', () => {
  const key = { ANTHROPIC_API_KEY: 'sk-ant-0123456789-0123456789-0123456789' };

  function answersOf(config: string) {
    return JSON.parse(readFileSync(path.join(config, '.claude.json'), 'utf8')) as Fields;
  }

  function put(config: string, text: string): string {
    const file = path.join(config, '.claude.json');
    writeFileSync(file, text, { mode: 0o640 });
    return file;
  }

  // promise: claude-settings
  test('is all that changes, for exactly this folder', async () => {
    const [config, folder] = [newFolder(), newFolder()];
    const before = {
      zeta: [1, { deep: null }],
      hasCompletedOnboarding: true,
      theme: 'light',
      projects: { '/other': { hasTrustDialogAccepted: false }, [folder]: { allowedTools: ['Edit'] } },
      oauthAccount: { name: 'Ada ö' },
    };
    const file = put(config, JSON.stringify(before));
    expect(await trustFolder({ CLAUDE_CONFIG_DIR: config, ...key }, folder)).toBe(true);
    expect(answersOf(config)).toEqual({
      ...before,
      projects: { ...before.projects, [folder]: { allowedTools: ['Edit'], hasTrustDialogAccepted: true } },
    });
    expect(Object.keys(answersOf(config))).toEqual(Object.keys(before));
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(config)).toEqual(['.claude.json']);
    const { mtimeMs } = statSync(file);
    expect(await trustFolder({ CLAUDE_CONFIG_DIR: config }, folder)).toBe(true);
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
  });

  test('is in the home folder by default', async () => {
    const [home, folder] = [newFolder(), newFolder()];
    expect(await trustFolder({ HOME: home }, folder)).toBe(true);
    // Not logged in yet: a person answers the questions of the first start.
    expect(answersOf(home)).toEqual({ projects: { [folder]: { hasTrustDialogAccepted: true } } });
  });

  test('comes with the answers of the first start, if a key makes a login unnecessary', async () => {
    const [config, folder] = [newFolder(), newFolder()];
    await trustFolder({ CLAUDE_CONFIG_DIR: config, ...key }, folder);
    expect(answersOf(config)).toEqual({
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: [key.ANTHROPIC_API_KEY.slice(-20)], rejected: [] },
      projects: { [folder]: { hasTrustDialogAccepted: true } },
    });
  });

  // promise: claude-settings
  test.each(['{"projects": {', '[]', '"text"'])('is not written over a file that has %s', async (text) => {
    const config = newFolder();
    const file = put(config, text);
    expect(await trustFolder({ CLAUDE_CONFIG_DIR: config, ...key }, newFolder())).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('keeps a link if the person has the file elsewhere', async () => {
    const [config, elsewhere] = [newFolder(), newFolder()];
    const real = path.join(elsewhere, 'claude.json');
    writeFileSync(real, '{"theme":"light"}');
    symlinkSync(real, path.join(config, '.claude.json'));
    await trustFolder({ CLAUDE_CONFIG_DIR: config }, newFolder());
    expect(JSON.parse(readFileSync(real, 'utf8'))).toMatchObject({ theme: 'light', projects: {} });
    expect(readdirSync(elsewhere)).toEqual(['claude.json']);
  });

  test('loses none of many written at once', async () => {
    const config = newFolder();
    const trusted = Array.from({ length: 12 }, newFolder);
    await Promise.all(trusted.map((folder) => trustFolder({ CLAUDE_CONFIG_DIR: config, ...key }, folder)));
    expect(Object.keys(answersOf(config)['projects'] as Fields).toSorted()).toEqual(trusted.toSorted());
    expect(readdirSync(config)).toEqual(['.claude.json']);
  });

  test('waits for the lock of a running program, and takes one that was left behind', async () => {
    const config = newFolder();
    const lock = path.join(config, '.claude.json.lock');
    mkdirSync(lock);
    const folder = newFolder();
    const given = trustFolder({ CLAUDE_CONFIG_DIR: config, ...key }, folder);
    await sleep(300);
    expect(existsSync(path.join(config, '.claude.json'))).toBe(false);
    utimesSync(lock, new Date(0), new Date(0));
    expect(await given).toBe(true);
    expect(existsSync(lock)).toBe(false);
  });
});
