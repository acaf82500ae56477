/**
 * The whole of Copse with real agent programs: from `copse add` to main, by way of conflicts, kills and returns. The
 * programs are real, and so is everything of Copse; what the model says comes from the scripted server, which also tells
 * what the agents heard.
 */

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { processesOfAttempt } from '../../../packages/copse/src/processes/end.ts';
import { type AttemptId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { answer, copse, finished, newArea, printed, startCopse } from '../../support/cli.ts';
import { isLong } from '../../support/long.ts';
import type { Step } from '../../support/model-server/protocol.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/server.ts';
import { call, fail, run, saidTo, say, using } from '../../support/model-server/steps.ts';
import { until } from '../../support/records/turns.ts';
import { removeHome } from './programs.ts';
import { type Kind, Site, type Surroundings } from './site.ts';

const area = newArea();
const homes: string[] = [];
let server: ModelServer;
let around: Surroundings;
beforeAll(async () => {
  server = await startModelServer();
  around = { area, server, homes };
});
afterEach(() => homes.splice(0).forEach(removeHome));
afterAll(() => server.close());

const claudeSdk: Kind = { runtime: 'claude-sdk', program: 'claude' };
const claude: Kind = { runtime: 'claude', program: 'claude' };
const codex: Kind = { runtime: 'codex', program: 'codex' };

/** The first, and with COPSE_LONG=1 all: what differs between the runtimes of Claude is in contract.ts. */
const someOf = (...kinds: readonly Kind[]) => (isLong ? kinds : kinds.slice(0, 1));

const HANDOFF = 'The greeting is half written: it should say hello, twice.';

const commit = (text: string, subject: string): Step =>
  run(`printf '${text}\\n' > greeting.txt && git add --all && git commit --quiet -m '${subject}'`);

/** Before the agent says that it is done, something happens elsewhere. */
const sayAfter =
  (happening: () => void, text: string): Step =>
  () => {
    happening();
    return say(text);
  };

describe.each(someOf(claudeSdk, claude))(
  'a conflict with work that landed meanwhile, with $runtime',
  (kind) => {
    test('is reported by the gate, resolved in the same conversation, and the task is done', async () => {
      const site = new Site(around);
      const key = site.addAgent('coder', kind, [
        commit('hello from the agent', 'feat: greet from the agent'),
        sayAfter(() => site.moveMain('hello from main'), 'I am done.'),
        run(
          "copse sync --conflict; printf 'hello from both\\n' > greeting.txt && git add greeting.txt && git commit --quiet -m 'fix: greet from both'",
        ),
        say('Resolved.'),
      ]);
      const id = await site.add('Greet', 'coder');
      await site.finish();
      expect(await site.task(id)).toMatchObject({ status: 'done' });
      expect(site.read('greeting.txt')).toBe('hello from both\n');
      const heard = server.turns(key).map((request) => saidTo(request));
      expect(heard).toHaveLength(4);
      expect(heard[2]).toContain('conflicts with main');
      expect(heard[2]).toContain('greeting.txt');
      // The same conversation: it still has what it said itself.
      expect(heard[2]).toContain('I am done.');
      expect(await site.events('attempt.started')).toHaveLength(1);
      expect(await site.events('task.handed_back')).toHaveLength(1);
      expect(await site.processes()).toEqual([]);
    });
  },
);

describe('a conflict with work that landed meanwhile, with codex', () => {
  test('is reported by another prompt in the same conversation, and the gate commits for it', async () => {
    const site = new Site(around);
    const key = site.addAgent(
      'coder',
      codex,
      [
        run("printf 'hello from the agent\\n' > greeting.txt"),
        sayAfter(() => site.moveMain('hello from main'), 'I am done.'),
        run("printf 'hello from main\\nand the agent\\n' > greeting.txt"),
        say('Resolved.'),
      ],
      { permissions: 'accept_edits' },
    );
    const id = await site.add('Greet', 'coder');
    await site.finish();
    const heard = server.turns(key).map((request) => saidTo(request));
    expect(heard[2]).toContain('conflicts with main');
    expect(heard[2]).toContain('I am done.');
    expect(await site.task(id)).toMatchObject({ status: 'done' });
    expect(site.read('greeting.txt')).toBe('hello from main\nand the agent\n');
    expect(await site.processes()).toEqual([]);
  });
});

describe.each([...someOf(claude, claudeSdk), codex])('after three conflicts, with $runtime', (kind) => {
  test('a person is asked: the worktree stays, and the process has ended', async () => {
    const site = new Site(around);
    site.addAgent('stubborn', kind, [
      commit('mine', 'feat: mine'),
      sayAfter(() => site.moveMain('theirs'), 'Done.'),
      say('Still done.'),
      say('I said done.'),
      say('Done, done, done.'),
    ]);
    const id = await site.add('Insist', 'stubborn');
    await site.finish();
    const { status, reason } = await site.task(id);
    expect(status).toBe('needs_attention');
    expect(reason).toContain('greeting.txt');
    expect(site.read('greeting.txt')).toBe('theirs\n');
    const { worktrees } = await answer<{ worktrees: readonly { task: string; worktree: string }[] }>(
      ['worktrees'],
      site.at,
    );
    const kept = worktrees.find(({ task }) => task === id)?.worktree ?? '';
    expect(readFileSync(path.join(kept, 'greeting.txt'), 'utf8')).toBe('mine\n');
    expect(await site.events('task.handed_back')).toHaveLength(2);
    expect(await site.processes()).toEqual([]);
  });
});

describe.each(someOf(claudeSdk, claude))('resume of a done task, with $runtime', (kind) => {
  test('continues the earlier conversation, in a new worktree', async () => {
    const site = new Site(around);
    const key = site.addAgent('coder', kind, [
      commit('hello, world', 'feat: greet the world'),
      say('The greeting is friendly now.'),
      commit('hello, worlds', 'feat: greet all worlds'),
      say('All of them.'),
    ]);
    const id = await site.add('Greet', 'coder');
    await site.finish();
    expect(await site.task(id)).toMatchObject({ status: 'done' });
    const { code, stderr } = await copse(['resume', id, '--message', 'There are more worlds.'], site.at);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    await site.finish();
    expect(await site.task(id)).toMatchObject({ status: 'done' });
    expect(site.read('greeting.txt')).toBe('hello, worlds\n');
    const heard = saidTo(server.turns(key)[2]!);
    expect(heard).toContain('The greeting is friendly now.');
    expect(heard).toContain('There are more worlds.');
    expect(await site.events('session.opened')).toHaveLength(1);
    expect(await site.events('workspace.prepared')).toHaveLength(2);
  });
});

describe.each([...someOf(claude, claudeSdk), codex])(
  'SIGKILL of the agent in the middle of a tool, with $runtime',
  (kind) => {
    test('leaves no process behind, and the retry is told of the crash', async () => {
      const site = new Site(around);
      const flag = path.join(site.folder, '..', `tool runs in ${site.name}`);
      const key = site.addAgent('coder', kind, [
        run(`printf 'half\\n' > half.txt; echo $$ > '${flag}'; sleep 600`),
        commit('hello again', 'feat: greet again'),
        say('Done this time.'),
      ]);
      const id = await site.add('Greet', 'coder');
      const orchestrator = startCopse(['orchestrate', '--until-idle'], site.at);
      const ended = finished(orchestrator);
      await until(() => existsSync(flag));
      const [attempt] = await site.events('attempt.started');
      const processes = await processesOfAttempt(brand<AttemptId>(attempt?.id ?? ''));
      for (const { pid } of processes) {
        const name = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] ?? '';
        if (/claude|codex/.test(name)) process.kill(pid, 'SIGKILL');
      }
      expect(await ended).toMatchObject({ code: 0 });
      expect(await site.task(id)).toMatchObject({ status: 'done' });
      expect(site.read('greeting.txt')).toBe('hello again\n');
      expect(await site.events('task.crashed')).toHaveLength(1);
      expect(saidTo(server.turns(key)[1]!)).toContain('The last attempt crashed');
      expect(await site.processes()).toEqual([]);
    });
  },
);

describe.each(someOf(claudeSdk, claude))('the tools for reporting, with $runtime', (kind) => {
  test('are available without configuration, and report for its own task', async () => {
    const site = new Site(around);
    site.addAgent(
      'coder',
      kind,
      [
        call('ledger_add', { kind: 'learning', text: 'The greeting is read by robots.' }),
        commit('hello, robot', 'feat: greet the robot'),
        call('finish', { summary: 'Greets robots' }),
        say('Done.'),
      ],
      { permissions: 'accept_edits' },
    );
    const id = await site.add('Greet', 'coder');
    await site.finish();
    expect(await site.task(id)).toMatchObject({ status: 'done' });
    expect(await site.events('ledger.added')).toMatchObject([
      { data: { task: id, kind: 'learning', text: 'The greeting is read by robots.' } },
    ]);
  });
});

describe.each(someOf(claude, claudeSdk))('an agent that has to ask, with $runtime', (kind) => {
  test('shows as waiting, and continues with the answer', async () => {
    const site = new Site(around);
    const key = site.addAgent(
      'asker',
      kind,
      [
        run('rm -f greeting.txt'),
        run("printf 'hello, all\\n' > greeting.txt; git add --all; git commit --quiet -m 'feat: greet all'"),
        say('Done.'),
      ],
      { permissions: 'ask' },
    );
    const id = await site.add('Greet', 'asker');
    const orchestrator = startCopse(['orchestrate', '--until-idle'], site.at);
    const ended = finished(orchestrator);
    const asked = async (count: number) => (await site.events('session.asked')).length === count;
    await until(() => asked(1));
    expect(await printed(['why', id], site.at)).toContain('rm -f greeting.txt');
    await printed(['answer', id, 'deny', '--message', 'Keep the file.'], site.at);
    await until(() => asked(2));
    await printed(['answer', id, 'allow'], site.at);
    expect(await ended).toMatchObject({ code: 0 });
    expect(await site.task(id)).toMatchObject({ status: 'done' });
    expect(site.read('greeting.txt')).toBe('hello, all\n');
    expect(saidTo(server.turns(key)[1]!)).toContain('Keep the file.');
  });
});

describe.each(someOf(claudeSdk, claude))(
  'a conversation whose context is nearly full, with $runtime',
  (kind) => {
    test('hands over to a new one in the same worktree, which reads its notes in the ledger', async () => {
      const site = new Site(around);
      const full = using({ input: 900_000, output: 10 }, run('true'));
      const rest = [commit('hello, twice', 'feat: greet twice'), say('Done.')];
      let hasHandedOver = false;
      // How far it comes before it is asked to hand over is a matter of moments.
      const goOn: Step = (request) => {
        const isAsked = saidTo(request).includes('Your context is nearly full');
        const step = isAsked ? say(HANDOFF) : hasHandedOver ? rest.shift()! : run('sleep 60');
        hasHandedOver ||= isAsked;
        return typeof step === 'function' ? step(request) : step;
      };
      const key = site.addAgent('coder', kind, [
        // How much the model holds is known from the end of a first turn on.
        commit('hello, once', 'feat: greet once'),
        say('Done.'),
        run("printf 'hello, tw' > greeting.txt"),
        full,
        full,
        ...Array.from({ length: 6 }, () => goOn),
      ]);
      const first = await site.add('Greet once', 'coder');
      await site.finish();
      expect(await site.task(first)).toMatchObject({ status: 'done' });
      const second = await site.add('Greet twice', 'coder');
      await site.finish();
      expect(await site.task(second)).toMatchObject({ status: 'done' });
      expect(site.read('greeting.txt')).toBe('hello, twice\n');
      const heard = server.turns(key).map((request) => saidTo(request));
      expect(heard.findIndex((text) => text.includes('Your context is nearly full'))).toBeGreaterThan(4);
      expect(await site.events('ledger.added')).toMatchObject([{ data: { kind: 'handoff', text: HANDOFF } }]);
      const fresh = heard.at(-1) ?? '';
      expect(fresh).not.toContain("hello, tw' > greeting.txt");
      expect(await site.events('task.crashed')).toEqual([]);
      expect(await site.events('session.opened')).toHaveLength(3);
    });
  },
);

describe.each(someOf(claude, claudeSdk))('a rate limit, with $runtime', (kind) => {
  test('delays the task without using up a retry, and `why` says so', async () => {
    const site = new Site(around);
    site.addAgent(
      'coder',
      kind,
      Array.from({ length: 30 }, () => fail(429, { retryAfterSeconds: 3_600 })),
    );
    const id = await site.add('Greet', 'coder');
    const orchestrator = startCopse(['orchestrate'], site.at);
    await until(async () => (await site.events('task.parked')).length > 0);
    orchestrator.kill('SIGINT');
    await finished(orchestrator);
    const task = await site.task(id);
    expect(task).toMatchObject({ status: 'ready', retries: 0, notBefore: expect.any(String) });
    expect(await printed(['why', id], site.at)).toContain('rate limit');
    expect(await site.processes()).toEqual([]);
  });
});

describe('only claude on the PATH and no configuration', () => {
  test('two commands bring a change to main', async () => {
    const site = new Site(around);
    site.install('claude');
    const env = site.environment(site.name, 'claude', [
      commit('hello, reader', 'feat: greet the reader'),
      say('Done.'),
    ]);
    const at = { cwd: site.folder, env: { ...env, ...site.at.env } };
    const added = await copse(['add', 'Greet', 'the', 'reader'], at);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    const done = await copse(['orchestrate', '--until-idle'], at);
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(site.read('greeting.txt')).toBe('hello, reader\n');
    expect(site.log()[0]).toBe('feat: greet the reader');
  });
});
