/** Claude through its Agent SDK: what every runtime does, and what is only this one's. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import {
  type ClaudeSdkSettings,
  claudeSdkRuntime,
} from '../../../packages/copse/src/agents/runtimes/claude-sdk/runtime.ts';
import {
  type RuntimeEvent,
  RuntimeUnavailable,
  type Turn,
} from '../../../packages/copse/src/agents/ports/runtime.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/server.ts';
import { call, fail, run, saidTo, say } from '../../support/model-server/steps.ts';
import { endTurns, newTurn, printedIn } from '../../support/records/turns.ts';
import { conversationIn, describeRuntime } from './contract.ts';
import { environmentFor, newHome, removeHome } from './programs.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const programs = openPrograms();

describeRuntime('claude-sdk', {
  program: 'claude',
  make: (settings) => claudeSdkRuntime({ ...settings, packageFrom: [here] }, programs),
  makeMissing: () => claudeSdkRuntime({ permissions: 'all' }, programs),
  environment: { CLAUDE_CODE_MAX_RETRIES: '1' },
  tries: 12,
  contextTokens: 1_000_000,
});

describe('only the runtime claude-sdk', () => {
  const area = newArea();
  let server: ModelServer;
  let home: string;
  let repository: string;
  let sessions = 0;
  let key: string;

  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(() => server.close());
  beforeEach(() => {
    sessions += 1;
    key = `session-${sessions}`;
    home = newHome();
    repository = newRepository(area);
  });
  afterEach(async () => {
    await endTurns();
    removeHome(home);
  });

  function begin(changes: Partial<Turn> = {}) {
    const events: RuntimeEvent[] = [];
    const turn = newTurn(area, { folder: repository, on: (event) => void events.push(event), ...changes });
    const environment = {
      ...environmentFor('claude', server.url(key), home),
      CLAUDE_CODE_MAX_RETRIES: '1',
      COPSE_ATTEMPT_ID: turn.attempt,
      ...changes.environment,
    };
    return { events, turn: { ...turn, environment } };
  }

  async function work(changes: Partial<Turn> = {}, settings: Partial<ClaudeSdkSettings> = {}) {
    const { turn, events } = begin(changes);
    const runtime = claudeSdkRuntime({ permissions: 'all', packageFrom: [here], ...settings }, programs);
    return { turn, events, outcome: await (await runtime.start(turn)).ended };
  }

  test('a question to a person ends the turn and is its outcome', async () => {
    const options = [
      { label: 'red', description: 'like a rose' },
      { label: 'blue', description: 'like the sky' },
    ];
    const questions = [{ question: 'Which colour?', header: 'Colour', multiSelect: false, options }];
    server.script(key, [call('AskUserQuestion', { questions }), say('Nobody answered.')]);
    const { outcome } = await work();
    expect(outcome).toEqual({ kind: 'needs_input', question: 'Which colour?\n- red\n- blue' });
    expect(server.left(key)).toBe(1);
  });

  test('a conversation that was reported but never begun is begun under the same id', async () => {
    const conversation = '0f1e2d3c-4b5a-4678-9abc-def012345678';
    server.script(key, [say('Hello.')]);
    const { outcome, events } = await work({ conversation });
    expect(outcome).toMatchObject({ kind: 'completed' });
    expect(conversationIn(events)).toBe(conversation);
    server.script(key, [say('Hello again.')]);
    await work({ conversation, prompt: 'and another thing' });
    expect(saidTo(server.turns(key).at(-1)!)).toContain('Hello.');
  });

  test('a prompt that looks like one of the program’s own commands is a prompt', async () => {
    server.script(key, [say('Cleared.')]);
    expect((await work({ prompt: '/clear the table' })).outcome).toMatchObject({ kind: 'completed' });
    expect(saidTo(server.turns(key)[0]!)).toContain('/clear the table');
  });

  test('a limit of the plan has the time at which it lifts, and is in the log', async () => {
    const resetsAt = 2_000_000_000;
    const headers = {
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(resetsAt),
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      'anthropic-ratelimit-unified-overage-status': 'rejected',
    };
    server.script(key, Array(4).fill(fail(429, { headers })));
    // Only those who pay for a plan have its limits.
    const environment = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-scripted' };
    const { outcome, turn } = await work({ environment });
    expect(outcome).toMatchObject({ kind: 'limit', until: resetsAt * 1_000 });
    expect(printedIn(turn)).toContain('The limit of the plan was reached.');
  });

  // promise: settings-from-main-checkout
  test('the project’s instructions come from the worktree, its hooks from the main checkout', async () => {
    const worktree = path.join(area, `worktree ${sessions}`);
    git(repository, 'worktree', 'add', '--quiet', '-b', `copse/${sessions}`, worktree);
    writeFileSync(path.join(worktree, 'CLAUDE.md'), 'Mention the heron.\n');
    plantHook(repository, path.join(area, `trusted-${sessions}`));
    plantHook(worktree, path.join(area, `planted-${sessions}`));
    server.script(key, [run('true'), say('Heron.')]);
    const { outcome } = await work({ folder: worktree }, { projectFolder: repository });
    expect(outcome).toMatchObject({ kind: 'completed' });
    expect(saidTo(server.turns(key)[0]!)).toContain('Mention the heron.');
    expect(existsSync(path.join(area, `trusted-${sessions}`))).toBe(true);
    expect(existsSync(path.join(area, `planted-${sessions}`))).toBe(false);
  });

  test('the user’s own hooks are left alone', async () => {
    const witness = path.join(area, `user-${sessions}`);
    plantHook(home, witness, 'claude/settings.json');
    server.script(key, [run('true'), say('Done.')]);
    await work();
    expect(existsSync(witness)).toBe(false);
  });

  test('an agent that may edit commits unasked, and asks for the rest', async () => {
    const asked: string[] = [];
    server.script(key, [
      call('Write', { file_path: path.join(repository, 'new.txt'), content: 'new\n' }),
      run(`git add new.txt && git commit --quiet --message='by the agent'`),
      run('env touch other.txt'),
      say('Done.'),
    ]);
    const mayUse: Turn['mayUse'] = ({ what }) => {
      asked.push(what);
      return Promise.resolve({ isAllowed: false, message: null });
    };
    await work({ mayUse }, { permissions: 'accept_edits' });
    expect(asked).toEqual(['env touch other.txt']);
    expect(git(repository, 'log', '-1', '--format=%s')).toBe('by the agent');
    expect(git(repository, 'status', '--porcelain')).toBe('');
  });

  test('all messages of the SDK are kept unchanged, beside the readable log', async () => {
    server.script(key, [run('echo something'), say('It is done.')]);
    const { turn } = await work();
    const raw = readFileSync(turn.log.replace(/\.log$/, '.jsonl'), 'utf8')
      .trim()
      .split('\n');
    expect(raw.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(
      expect.arrayContaining(['system', 'assistant', 'user', 'result']),
    );
    expect(printedIn(turn)).toContain('• Bash echo something\nIt is done.\n');
  });

  test('a package without its program is reported', async () => {
    const folder = mkdtempSync(path.join(area, 'partial-'));
    const scope = path.join(folder, 'node_modules', '@anthropic-ai', 'claude-agent-sdk');
    mkdirSync(scope, { recursive: true });
    const installed = path.join(here, 'node_modules', '@anthropic-ai', 'claude-agent-sdk');
    for (const file of ['package.json', 'sdk.mjs'])
      writeFileSync(path.join(scope, file), readFileSync(path.join(installed, file)));
    const { turn } = begin();
    const partial = claudeSdkRuntime({ permissions: 'all', packageFrom: [folder] }, programs);
    await expect(partial.start(turn)).rejects.toThrow(RuntimeUnavailable);
    await expect(partial.start(turn)).rejects.toThrow(/without --omit=optional/);
    const program = path.join(area, 'no-such-claude');
    const wrong = claudeSdkRuntime({ permissions: 'all', packageFrom: [here], program }, programs);
    await expect(wrong.start(turn)).rejects.toThrow(RuntimeUnavailable);
  });

  test('the package is found in npm’s global folder, from the program on PATH', async () => {
    const prefix = mkdtempSync(path.join(area, 'prefix-'));
    for (const folder of ['bin', 'lib']) mkdirSync(path.join(prefix, folder));
    symlinkSync(path.join(here, 'node_modules'), path.join(prefix, 'lib', 'node_modules'));
    server.script(key, [say('Found.')]);
    const PATH = [path.join(prefix, 'bin'), process.env['PATH'] ?? ''].join(path.delimiter);
    const { outcome } = await work({ environment: { PATH } }, { packageFrom: [] });
    expect(outcome).toMatchObject({ kind: 'completed', lastWords: 'Found.' });
  });

  // promise: programs-from-path
  test('a package in the worktree is never loaded', async () => {
    const planted = path.join(repository, 'node_modules', '@anthropic-ai', 'claude-agent-sdk');
    mkdirSync(planted, { recursive: true });
    writeFileSync(path.join(planted, 'package.json'), '{"main":"sdk.mjs"}');
    writeFileSync(path.join(planted, 'sdk.mjs'), 'throw new Error("loaded")');
    await expect(work({}, { packageFrom: [] })).rejects.toThrow(/is not installed/);
  });
});

/** A hook of a project's or a user's settings, which would create the file before each tool. */
function plantHook(folder: string, witness: string, file = '.claude/settings.json'): void {
  const settings = path.join(folder, file);
  mkdirSync(path.dirname(settings), { recursive: true });
  const hooks = [{ hooks: [{ type: 'command', command: `touch '${witness}'` }] }];
  writeFileSync(settings, JSON.stringify({ hooks: { PreToolUse: hooks } }));
}
