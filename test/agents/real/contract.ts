/**
 * What every runtime of a real agent program has to do, whatever the program: the same cases for all of them, against the
 * scripted model server. A runtime's capabilities say which cases apply; what a harness leaves out it says why.
 */

import { readFileSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { isAlive } from '../../../packages/copse/src/processes/identity.ts';
import { ownPrograms } from '../../../packages/copse/src/compose/parts.ts';
import { addUsage, noUsage, type Usage } from '../../../packages/copse/src/kernel/usage.ts';
import {
  type PermissionRequest,
  type RunningTurn,
  type Runtime,
  type RuntimeEvent,
  type RuntimeOutcome,
  RuntimeUnavailable,
  type StopAnswer,
  type Turn,
} from '../../../packages/copse/src/agents/ports/runtime.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';
import type { Step } from '../../support/model-server/protocol.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/server.ts';
import { fail, run, saidTo, say, using, write } from '../../support/model-server/steps.ts';
import { endTurns, newTurn, pidsOf, until, wordsIn } from '../../support/records/turns.ts';
import { environmentFor, newHome, type ProgramName, removeHome } from './programs.ts';

/** What copse.yml says about an agent, as far as runtimes differ by it. */
export interface AgentSettings {
  readonly permissions: 'ask' | 'accept_edits' | 'all' | { readonly allow: readonly string[] };
  readonly systemPrompt?: string;
  /** What the session may cost. */
  readonly dollars?: number;
}

type Case =
  | 'commits'
  | 'gate'
  | 'resumes'
  | 'stopped'
  | 'killed'
  | 'bad request'
  | 'server errors'
  | 'rate limit'
  | 'usage'
  | 'context'
  | 'permission'
  | 'budget'
  | 'missing';

export interface Harness {
  /** Whose surroundings it needs. */
  readonly program: ProgramName;
  readonly make: (settings: AgentSettings) => Runtime;
  /** The runtime when its program or package is not installed. */
  readonly makeMissing?: () => Runtime;
  /** Is added to the environment of every turn; so few tries that a failure is soon final, for example. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A new name of a tmux session for each turn, for runtimes that use one here. */
  readonly terminal?: () => string;
  /** How many failing answers make a failure final. */
  readonly tries: number;
  /** Tokens that fit into the conversation of the scripted model. */
  readonly contextTokens?: number;
  /** Cases that this program cannot have, and why. */
  readonly without?: Partial<Record<Case, string>>;
}

const graceMs = 3_000;
const COMMIT = `git add --all && git commit --quiet --message='by the agent' && echo committed it`;

export function describeRuntime(name: string, harness: Harness): void {
  const { without = {} } = harness;
  const { capabilities } = harness.make({ permissions: 'all' });
  const area = newArea();
  let server: ModelServer;
  let programs: string;
  let home: string;
  let repository: string;
  let worktree: string;
  let sessions = 0;
  let key: string;

  beforeAll(async () => {
    server = await startModelServer();
    programs = ownPrograms(area);
  });
  afterAll(() => server.close());
  beforeEach(() => {
    sessions += 1;
    key = `session-${sessions}`;
    home = newHome();
    repository = newRepository(area);
    worktree = newWorktree('one');
  });
  afterEach(async () => {
    await endTurns();
    removeHome(home);
  });

  const applies = (which: Case) => ({ skip: without[which] !== undefined });

  function newWorktree(which: string): string {
    const folder = path.join(area, `wörk 'tree' ${sessions} ${which}`);
    git(repository, 'worktree', 'add', '--quiet', '-B', `copse/${which}`, folder);
    return folder;
  }

  function begin(changes: Partial<Turn> = {}): Witnessed {
    const events: RuntimeEvent[] = [];
    const turn = newTurn(area, { prompt: 'write a greeting', ...changes });
    const environment: Readonly<Record<string, string>> = {
      ...environmentFor(harness.program, server.url(key), home),
      ...harness.environment,
      COPSE_ATTEMPT_ID: turn.attempt,
    };
    return {
      events,
      turn: {
        ...turn,
        folder: worktree,
        systemPrompt: 'You speak only of copses.',
        terminal: harness.terminal?.() ?? null,
        on: (event) => void events.push(event),
        ...changes,
        environment: {
          ...environment,
          PATH: [programs, environment['PATH'] ?? ''].join(path.delimiter),
          ...changes.environment,
        },
      },
    };
  }

  async function start(
    witnessed: Witnessed,
    settings: AgentSettings = { permissions: 'all' },
  ): Promise<RunningTurn> {
    return harness.make(settings).start(witnessed.turn);
  }

  /** As a runner does it: the gate is asked by the program, or after it, and then it is prompted again. */
  async function workUntilOpen(
    gate: () => Promise<StopAnswer>,
    changes: Partial<Turn> = {},
    settings?: AgentSettings,
  ): Promise<{ readonly outcome: RuntimeOutcome; readonly events: readonly RuntimeEvent[] }> {
    if (capabilities.stop === 'native') {
      const only = begin({ ...changes, beforeStop: gate });
      return { outcome: await (await start(only, settings)).ended, events: only.events };
    }
    const events: RuntimeEvent[] = [];
    let next = changes;
    for (;;) {
      const one = begin({ ...next, used: usedIn(events) });
      const outcome = await (await start(one, settings)).ended;
      events.push(...one.events);
      const answer = await gate();
      if (answer.kind === 'allowed') return { outcome, events };
      next = { ...changes, prompt: answer.reason, conversation: conversationIn(events) };
    }
  }

  /** With so many tokens of input each. */
  function workSteps([
    first = 1_000,
    second = 1_000,
    third = 1_000,
  ]: readonly number[] = []): readonly Step[] {
    return [
      using({ input: first, output: first / 100 }, write(path.join(worktree, 'hello.txt'), 'hello 林\n')),
      using({ input: second, output: second / 100 }, run(COMMIT)),
      using({ input: third, output: third / 100, cacheRead: 500 }, say('All is done.')),
    ];
  }

  function lastRequest(): string {
    return saidTo(server.turns(key).at(-1)!);
  }

  describe(`the runtime ${name}`, () => {
    test(
      'writes a file, commits it, reports its conversation, and continues it in a worktree that was made again',
      applies('commits'),
      async () => {
        const failure = without['server errors'] === undefined ? [fail(500)] : [];
        server.script(key, [...failure, ...workSteps([500, 500, 2_000])]);
        const one = begin();
        const running = await start(one, { permissions: 'all', systemPrompt: 'Be brief, says its author.' });
        expect(running.process).not.toBeNull();
        expect(await running.ended).toMatchObject({ kind: 'completed' });
        expect(readFileSync(path.join(worktree, 'hello.txt'), 'utf8')).toBe('hello 林\n');
        expect(git(worktree, 'log', '-1', '--format=%s')).toBe('by the agent');
        expect(git(worktree, 'status', '--porcelain')).toBe('');
        expect(conversationIn(one.events)).toMatch(/\S/);
        expect(server.left(key)).toBe(0);
        for (const text of ['write a greeting', 'You speak only of copses.', 'Be brief, says its author.'])
          expect(saidTo(server.turns(key)[0]!)).toContain(text);
        // The reaper above it goes a moment after it.
        await until(async () => (await pidsOf(one.turn)).length === 0);
        const first = usedIn(one.events);
        const tellsUsage = without.usage === undefined;
        if (tellsUsage)
          expect(first).toMatchObject(toldOf(capabilities, { input: 3_000, cached: 500, output: 30 }));
        if (without.resumes !== undefined) return;

        git(repository, 'worktree', 'remove', '--force', worktree);
        const isAnywhere = capabilities.resume === 'anywhere';
        worktree = newWorktree(isAnywhere ? 'other' : 'one');
        server.script(key, [
          using({ input: 1_000, output: 10 }, write(path.join(worktree, 'second.txt'), 'two\n')),
          using({ input: 1_000, output: 10 }, run('pwd -P')),
          using({ input: 2_000, output: 20 }, say('Both done.')),
        ]);
        const conversation = conversationIn(one.events);
        const two = begin({ prompt: 'and now the second part', conversation, used: first });
        expect(await (await start(two)).ended).toMatchObject({ kind: 'completed' });
        const told = lastRequest();
        const earlier = ['write a greeting', 'hello 林', 'committed it', 'All is done.'];
        if (capabilities.resume !== 'never') for (const text of earlier) expect(told).toContain(text);
        expect(told).toContain('and now the second part');
        // Its tools work where it is now.
        expect(told).toContain(realpathSync(worktree));
        expect(readFileSync(path.join(worktree, 'second.txt'), 'utf8')).toBe('two\n');
        if (!tellsUsage) return;
        // Of each turn, never a sum; in dollars too: the second turn alone, and not the first once more.
        const second = usedIn(two.events);
        expect(second).toMatchObject(toldOf(capabilities, { input: 4_000, cached: 0, output: 40 }));
        if (capabilities.cost === 'dollars') expect(second.dollars! / first.dollars!).toBeCloseTo(4 / 3, 0);
      },
    );

    test(
      'gets a prompt that is longer than an argument can be, reports how full its context is, and ends when the gate cannot be asked',
      applies('commits'),
      async () => {
        const window = harness.contextTokens ?? 200_000;
        const isNearlyFull = without.context === undefined;
        const input = isNearlyFull ? Math.round(window * 0.7) : 1_000;
        server.script(key, [using({ input, output: 100 }, say('That was long.'))]);
        const prompt = `begin ${'long '.repeat(50_000)} end of the prompt`;
        const one = begin({ prompt, beforeStop: () => Promise.reject(new Error('The gate is broken')) });
        expect(await (await start(one)).ended).toMatchObject({ kind: 'completed' });
        const told = lastRequest();
        // Whole, or by the file that has it.
        expect(told.includes('end of the prompt') || told.includes('session-prompt.md')).toBe(true);
        if (without.gate === undefined) expect(server.turns(key)).toHaveLength(1);
        if (!isNearlyFull) return;
        const shares = one.events.flatMap((event) => (event.type === 'context' ? [event.share] : []));
        expect(shares.at(-1)).toBeGreaterThan(0.68);
        expect(shares.at(-1)).toBeLessThan(0.73);
      },
    );

    test('continues in the same conversation as often as the gate refuses', applies('gate'), async () => {
      // The runner counts, not the program, which has a limit of its own.
      const more = Array.from({ length: capabilities.stop === 'native' ? 10 : 0 }, (_, at) => `No ${at}.`);
      server.script(key, [
        ...workSteps(),
        run(`echo more >> hello.txt && ${COMMIT}`),
        say('Now it is.'),
        say('Really.'),
        ...more.map(() => say('Finished.')),
      ]);
      const reasons = ['the greeting lacks a second line.', 'are you sure?', ...more];
      const answers: StopAnswer[] = [
        ...reasons.map((reason) => ({ kind: 'refused' as const, reason: `The gate says: ${reason}` })),
        { kind: 'allowed' },
      ];
      const { outcome, events } = await workUntilOpen(() =>
        Promise.resolve(answers.shift() ?? { kind: 'allowed' }),
      );
      expect(outcome).toMatchObject({ kind: 'completed' });
      expect(answers).toEqual([]);
      expect(server.left(key)).toBe(0);
      const told = lastRequest();
      for (const text of ['write a greeting', 'All is done.', 'Now it is.', ...reasons])
        expect(told).toContain(text);
      expect(new Set(conversationsIn(events)).size).toBe(1);
      expect(git(worktree, 'rev-list', '--count', 'HEAD')).toBe('3');
    });

    test(
      'is stopped in the middle of a tool, with every process it started; continued, it is killed: a crash, and no process is left',
      applies('stopped'),
      async () => {
        const pids = path.join(area, `pids-${sessions}`);
        const hang = run(
          `echo $PPID >> '${quotable(pids)}'; setsid sleep 1000 & echo $! >> '${quotable(pids)}'; sleep 1000`,
        );
        server.script(key, [hang]);
        const one = begin();
        const stopped = await start(one);
        await wordsIn(pids, 2);
        await stopped.stop({ graceMs });
        expect(await stopped.ended).toEqual({ kind: 'cancelled' });
        expect(await pidsOf(one.turn)).toEqual([]);
        expect(await isAlive(stopped.process!)).toBe(false);
        if (without.killed !== undefined) return;

        const goOn = (before: Witnessed) =>
          begin({
            prompt: 'go on',
            ...(capabilities.resume !== 'never' && { conversation: conversationIn(before.events) }),
          });
        server.script(key, [hang]);
        const two = goOn(one);
        const killed = await start(two);
        const program = (await wordsIn(pids, 4))[2];
        if (capabilities.resume !== 'never') expect(lastRequest()).toContain('write a greeting');
        process.kill(Number(program), 'SIGKILL');
        expect(await killed.ended).toMatchObject({ kind: 'crashed' });
        // Its shell lives on, in a process group of its own, until the runner ends what is left.
        await killed.stop({ graceMs });
        expect(await pidsOf(two.turn)).toEqual([]);
        if (capabilities.resume === 'never') return;
        server.script(key, [say('I am back.')]);
        expect(await (await start(goOn(two))).ended).toMatchObject({ kind: 'completed' });
        expect(lastRequest()).toContain('write a greeting');
      },
    );

    test('reports a request that the API refuses as not retryable', applies('bad request'), async () => {
      server.script(key, Array<Step>(harness.tries).fill(fail(400, { message: 'scripted: bad request' })));
      const outcome = await (await start(begin())).ended;
      expect(outcome).toMatchObject({ kind: 'api_error', isRetryable: false });
      expect(outcome).toMatchObject({ status: 400 });
      expect((outcome as { reason: string }).reason).toContain('scripted: bad request');
    });

    test('reports a failure of the API as retryable', applies('server errors'), async () => {
      server.script(key, Array<Step>(harness.tries).fill(fail(500)));
      expect(await (await start(begin())).ended).toMatchObject({
        kind: 'api_error',
        status: 500,
        isRetryable: true,
      });
    });

    test('reports a limit', applies('rate limit'), async () => {
      server.script(key, Array<Step>(harness.tries).fill(fail(429, { retryAfterSeconds: 1 })));
      expect(await (await start(begin())).ended).toMatchObject({ kind: 'limit' });
    });

    if (capabilities.permissions === 'asks') {
      test(
        'does what a person allows, and gets the person’s message after a no',
        applies('permission'),
        async () => {
          const asked: PermissionRequest[] = [];
          server.script(key, [
            run('echo forbidden > forbidden.txt'),
            run('echo allowed > allowed.txt'),
            say('One of two.'),
          ]);
          const one = begin({
            mayUse: (permission) => {
              asked.push(permission);
              const isAllowed = !permission.what.includes('forbidden');
              return Promise.resolve({ isAllowed, message: isAllowed ? null : 'Ada says: not this one.' });
            },
          });
          expect(await (await start(one, { permissions: 'ask' })).ended).toMatchObject({
            kind: 'completed',
          });
          expect(asked.map(({ what }) => what)).toEqual([
            expect.stringContaining('echo forbidden > forbidden.txt'),
            expect.stringContaining('echo allowed > allowed.txt'),
          ]);
          expect(git(worktree, 'status', '--porcelain')).toBe('?? allowed.txt');
          expect(lastRequest()).toContain('Ada says: not this one.');
        },
      );

      test(
        'waits for a person without a time limit, and can be stopped meanwhile',
        applies('permission'),
        async () => {
          let isAsked = false;
          server.script(key, [run('echo never > never.txt')]);
          const one = begin({
            mayUse: () => {
              isAsked = true;
              return new Promise(() => {});
            },
          });
          const running = await start(one, { permissions: 'ask' });
          await until(() => isAsked);
          await running.stop({ graceMs });
          expect(await running.ended).toEqual({ kind: 'cancelled' });
          expect(await pidsOf(one.turn)).toEqual([]);
          expect(git(worktree, 'status', '--porcelain')).toBe('');
        },
      );
    }

    if (capabilities.cost === 'dollars') {
      test('stops for a person when its budget is used up', applies('budget'), async () => {
        server.script(key, [
          using({ input: 900_000, output: 90_000 }, run('true')),
          using({ input: 900_000, output: 90_000 }, run('true')),
          say('Too far.'),
        ]);
        const outcome = await (await start(begin(), { permissions: 'all', dollars: 0.5 })).ended;
        expect(outcome).toMatchObject({ kind: 'needs_input' });
        expect(server.left(key)).toBeGreaterThan(0);
      });
    }

    test('says what to install when the program is missing', applies('missing'), async () => {
      if (harness.makeMissing === undefined) throw new Error('A harness needs `makeMissing` or a reason');
      const missing = harness.makeMissing();
      await expect(missing.start(begin().turn)).rejects.toThrow(RuntimeUnavailable);
      await expect(missing.start(begin().turn)).rejects.toThrow(/install/i);
    });

    test('names a missing folder', applies('missing'), async () => {
      const folder = path.join(area, 'gone');
      rmSync(folder, { recursive: true, force: true });
      await expect(start(begin({ folder }))).rejects.toThrow(folder);
    });
  });
}

interface Witnessed {
  readonly turn: Turn;
  readonly events: readonly RuntimeEvent[];
}

function conversationsIn(events: readonly RuntimeEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'conversation' ? [event.id] : []));
}

/** The last one told, which is the one to go on with. */
export function conversationIn(events: readonly RuntimeEvent[]): string {
  const id = conversationsIn(events).at(-1);
  if (id === undefined) throw new Error('The runtime did not tell its conversation');
  return id;
}

function usedIn(events: readonly RuntimeEvent[]): Usage {
  return events.reduce((sum, event) => (event.type === 'usage' ? addUsage(sum, event.usage) : sum), noUsage);
}

function toldOf(
  { cost }: Runtime['capabilities'],
  tokens: Pick<Usage, 'input' | 'cached' | 'output'>,
): object {
  if (cost === 'nothing') return noUsage;
  return cost === 'dollars' ? { ...tokens, dollars: expect.any(Number) } : tokens;
}

/** Inside single quotes. */
function quotable(text: string): string {
  return text.replaceAll("'", `'\\''`);
}
