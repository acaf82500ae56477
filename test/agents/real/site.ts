/** A repository in which real agent programs work, each with a conversation of its own with the scripted model. */

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { processesOfAttempt } from '../../../packages/copse/src/processes/end.ts';
import { type AttemptId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { untilIdle } from '../../support/agents/scripted-agents.ts';
import { answer, git, newRepository, printed } from '../../support/cli.ts';
import type { Step } from '../../support/model-server/protocol.ts';
import type { ModelServer } from '../../support/model-server/server.ts';
import { type ProgramName, commandOf, environmentFor, newHome } from './programs.ts';

const modules = fileURLToPath(new URL('node_modules', import.meta.url));

export interface Kind {
  readonly runtime: 'claude-sdk' | 'claude' | 'codex';
  readonly program: ProgramName;
}

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

export interface Surroundings {
  readonly area: string;
  readonly server: ModelServer;
  /** The homes of all programs, to be removed. */
  readonly homes: string[];
}

let sites = 0;

export class Site {
  readonly folder: string;
  readonly name: string;
  readonly #around: Surroundings;
  readonly #bin: string;
  readonly #agents: Record<string, object> = {};

  constructor(around: Surroundings) {
    sites += 1;
    this.name = `site-${sites}`;
    this.#around = around;
    this.folder = newRepository(around.area);
    // A global installation of npm, outside of the repository.
    const prefix = path.join(around.area, `global ${sites}`);
    this.#bin = path.join(prefix, 'bin');
    mkdirSync(this.#bin, { recursive: true });
    mkdirSync(path.join(prefix, 'lib'));
    symlinkSync(modules, path.join(prefix, 'lib', 'node_modules'));
    writeFileSync(path.join(this.folder, '.gitignore'), 'node_modules\n');
    writeFileSync(path.join(this.folder, 'greeting.txt'), 'hello\n');
    this.commit('chore: begin');
  }

  /** The key under which the server knows it. */
  addAgent(name: string, { runtime, program }: Kind, script: readonly Step[], more: object = {}): string {
    const key = `${this.name}-${name}`;
    const env = this.environment(key, program, script);
    this.install(program);
    this.#agents[name] = { runtime, permissions: 'all', env, ...more };
    const config = { agents: this.#agents, policy: { first_backoff: '200ms', poll_interval: '300ms' } };
    writeFileSync(path.join(this.folder, 'copse.yml'), JSON.stringify(config));
    this.commit('chore: agents');
    return key;
  }

  /** What makes a program hear this script. */
  environment(key: string, program: ProgramName, script: readonly Step[]): Record<string, string> {
    const { server, homes } = this.#around;
    server.script(key, script);
    const home = newHome();
    homes.push(home);
    const { PATH: _, ...env } = environmentFor(program, server.url(key), home);
    return env;
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
    return untilIdle(this.at, ...options);
  }

  async task(id: string): Promise<TaskView> {
    return answer<TaskView>(['show', id], this.at);
  }

  async events(type: string): Promise<readonly EventView[]> {
    const lines = (await printed(['events', '--json'], this.at)).trim().split('\n');
    return lines.map((line) => JSON.parse(line) as EventView).filter((event) => event.type === type);
  }

  read(file: string): string {
    return readFileSync(path.join(this.folder, file), 'utf8');
  }

  /** What is on main, newest first. */
  log(): readonly string[] {
    return git(this.folder, 'log', '--format=%s', 'main').split('\n');
  }

  /** Another task lands meanwhile, and changes the same line. */
  moveMain(text: string): void {
    writeFileSync(path.join(this.folder, 'greeting.txt'), `${text}\n`);
    this.commit(`feat: ${text}`);
  }

  /** What its attempts left running. */
  async processes(): Promise<readonly unknown[]> {
    const attempts = await this.events('attempt.started');
    return (await Promise.all(attempts.map(({ id }) => processesOfAttempt(brand<AttemptId>(id))))).flat();
  }
}
