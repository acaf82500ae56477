/**
 * The whole of Copse with real agent programs: from `copse add` to main, by way of conflicts, kills and returns. The
 * programs are real, and so is everything of Copse; what the model says comes from the scripted server, which also tells
 * what the agents heard.
 */

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { processesOfAttempt } from '../../packages/copse/src/adapters/processes/attempt.ts';
import { type AttemptId, brand } from '../../packages/copse/src/domain/ids.ts';
import { answer, copse, finished, git, newArea, newRepository, printed, startCopse } from '../support/cli.ts';
import type { Step } from '../support/model-server/protocol.ts';
import { type ModelServer, startModelServer } from '../support/model-server/server.ts';
import { call, run, saidTo, say } from '../support/model-server/steps.ts';
import { until } from '../support/turns.ts';
import { type ProgramName, commandOf, environmentFor, newHome, removeHome } from './programs.ts';

const area = newArea();
const modules = fileURLToPath(new URL('node_modules', import.meta.url));
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const homes: string[] = [];
afterEach(() => homes.splice(0).forEach(removeHome));

interface Kind {
  readonly runtime: 'claude-sdk' | 'claude' | 'codex';
  readonly program: ProgramName;
}

const claudeSdk: Kind = { runtime: 'claude-sdk', program: 'claude' };
const claude: Kind = { runtime: 'claude', program: 'claude' };
const codex: Kind = { runtime: 'codex', program: 'codex' };

interface TaskView {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
}

interface EventView {
  readonly type: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

let sites = 0;

/** A repository in which each agent has a conversation of its own with the model. */
class Site {
  readonly folder = newRepository(area);
  readonly #bin = path.join(area, `bin ${(sites += 1)}`);
  readonly #agents: Record<string, object> = {};

  constructor() {
    mkdirSync(this.#bin);
    writeFileSync(path.join(this.folder, '.gitignore'), 'node_modules\n');
    writeFileSync(path.join(this.folder, 'greeting.txt'), 'hello\n');
    symlinkSync(modules, path.join(this.folder, 'node_modules'));
    this.commit('chore: begin');
  }

  /** The key under which the server knows it. */
  addAgent(name: string, { runtime, program }: Kind, script: readonly Step[], more: object = {}): string {
    const key = `site-${sites}-${name}`;
    server.script(key, script);
    const home = newHome();
    homes.push(home);
    const { PATH: _, ...env } = environmentFor(program, server.url(key), home);
    this.install(program);
    this.#agents[name] = { runtime, permissions: 'all', env, ...more };
    const config = { agents: this.#agents, policy: { first_backoff: '1s', poll_interval: '1s' } };
    writeFileSync(path.join(this.folder, 'copse.yml'), JSON.stringify(config));
    this.commit('chore: agents');
    return key;
  }

  install(program: ProgramName): void {
    const link = path.join(this.#bin, program);
    if (!existsSync(link)) symlinkSync(commandOf(program)[0], link);
  }

  commit(message: string): void {
    git(this.folder, 'add', '--all');
    git(this.folder, 'commit', '--quiet', `--message=${message}`);
  }

  async add(title: string, agent: string): Promise<string> {
    return (await answer<TaskView>(['add', title, '--agent', agent], this.at)).id;
  }

  get at() {
    return { cwd: this.folder, env: { PATH: `${this.#bin}:${process.env['PATH'] ?? ''}` } };
  }

  async finish(...options: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await copse(['orchestrate', '--until-idle', ...options], this.at);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    return stdout;
  }

  async task(id: string): Promise<TaskView> {
    return answer<TaskView>(['show', id], this.at);
  }

  async events(type: string): Promise<readonly EventView[]> {
    const lines = (await printed(['events', '--json'], this.at)).trim().split('\n');
    return lines.map((line) => JSON.parse(line) as EventView).filter((event) => event.type === type);
  }

  async until(id: string, status: string): Promise<void> {
    await until(async () => (await this.task(id)).status === status);
  }

  read(file: string): string {
    return readFileSync(path.join(this.folder, file), 'utf8');
  }

  /** What is on main, newest first. */
  log(): readonly string[] {
    return git(this.folder, 'log', '--format=%s', 'main').split('\n');
  }

  /** Somebody else's work lands meanwhile, and touches the same line. */
  moveMain(text: string): void {
    writeFileSync(path.join(this.folder, 'greeting.txt'), `${text}\n`);
    this.commit(`feat: ${text}`);
  }

  async leavesNothingRunning(): Promise<void> {
    for (const { id } of await this.events('attempt.started'))
      expect(await processesOfAttempt(brand<AttemptId>(id))).toEqual([]);
  }
}

const commit = (text: string, subject: string): Step =>
  run(`printf '${text}\\n' > greeting.txt && git add --all && git commit --quiet -m '${subject}'`);

/** Before the agent says that it is done, something happens elsewhere. */
const sayAfter =
  (happening: () => void, text: string): Step =>
  () => {
    happening();
    return say(text);
  };

describe.each([claudeSdk, claude])('a conflict with what landed meanwhile, with $runtime', (kind) => {
  test('is told by the gate, resolved in the same conversation, and the task is done', async () => {
    const site = new Site();
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
    await site.leavesNothingRunning();
  });
});

describe('a conflict with what landed meanwhile, with codex', () => {
  test('is told by another prompt in the same conversation, and the gate commits for it', async () => {
    const site = new Site();
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
    await site.leavesNothingRunning();
  });
});

describe.each([claudeSdk, claude, codex])('after three conflicts, with $runtime', (kind) => {
  test('a person is asked: the worktree stays, and the process is gone', async () => {
    const site = new Site();
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
    await site.leavesNothingRunning();
  });
});

describe.each([claudeSdk, claude])('resume of a done task, with $runtime', (kind) => {
  test('goes on with the earlier conversation, in a new worktree', async () => {
    const site = new Site();
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

describe.each([claudeSdk, claude, codex])(
  'SIGKILL of the agent in the middle of a tool, with $runtime',
  (kind) => {
    test('leaves no process behind, and the retry is told of the crash', async () => {
      const site = new Site();
      const flag = path.join(site.folder, '..', `tool runs ${sites}`);
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
      await site.leavesNothingRunning();
    });
  },
);

describe.each([claudeSdk, claude])('the tools for reporting, with $runtime', (kind) => {
  test('are there without being asked for, and speak for its own task', async () => {
    const site = new Site();
    const key = site.addAgent(
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
    const heard = saidTo(server.turns(key).at(-1)!);
    expect(await site.task(id), heard).toMatchObject({ status: 'done' });
    expect(await site.events('ledger.added')).toMatchObject([
      { data: { task: id, kind: 'learning', text: 'The greeting is read by robots.' } },
    ]);
  });
});

describe('only claude on the PATH and no configuration', () => {
  test('two commands bring a change to main', async () => {
    const site = new Site();
    site.install('claude');
    const home = newHome();
    homes.push(home);
    const key = `site-${sites}`;
    server.script(key, [commit('hello, reader', 'feat: greet the reader'), say('Done.')]);
    const { PATH: _, ...env } = environmentFor('claude', server.url(key), home);
    const at = { cwd: site.folder, env: { ...env, ...site.at.env } };
    const added = await copse(['add', 'Greet', 'the', 'reader'], at);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    const done = await copse(['orchestrate', '--until-idle'], at);
    expect(done, done.stdout).toMatchObject({ code: 0, stderr: '' });
    expect(site.read('greeting.txt')).toBe('hello, reader\n');
    expect(site.log()[0]).toBe('feat: greet the reader');
  });
});
