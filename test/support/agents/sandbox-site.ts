/** A repository with one agent in a sandbox, on a disk on which a sandbox can be. */

import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { answer, git, newRepository, commitAsAgent } from '../cli.ts';
import { untilIdle } from './scripted-agents.ts';
import { Around, pathWithSandbox } from './sandbox-matrix.ts';

interface TaskView {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
}

let sites = 0;

/** A repository with one agent, whose program is a line for the shell. */
export class Site {
  readonly folder: string;
  readonly place: string;
  readonly home: string;
  readonly #area: string;

  constructor(area: string) {
    this.#area = area;
    this.folder = newRepository(area);
    this.place = path.join(area, `around ${(sites += 1)}`);
    this.home = path.join(this.place, 'home');
    mkdirSync(this.home, { recursive: true });
    // Agents do not get the variables of git.
    commitAsAgent(this.folder);
    writeFileSync(path.join(this.folder, 'tracked.txt'), 'tracked\n');
    writeFileSync(path.join(this.folder, '.gitignore'), 'node_modules\n');
    Around.furnishHome(this.home);
    this.configure({});
  }

  configure(agent: object, more: object = {}): void {
    const policy = {
      first_backoff: '100ms',
      max_retries: 3,
      poll_interval: '500ms',
      min_free_memory: '50MB',
    };
    const config = {
      agents: { agent: { command: 'true', sandbox: 'runtime', ...agent } },
      landing: { policy: 'review' },
      policy,
      ...more,
    };
    writeFileSync(path.join(this.folder, 'copse.yml'), JSON.stringify(config));
    git(this.folder, 'add', '--all');
    git(this.folder, 'commit', '--quiet', '--message=chore: agents');
  }

  get at() {
    return { cwd: this.folder, env: { HOME: this.home, PATH: pathWithSandbox(this.#area) } };
  }

  async add(title: string, ...more: readonly string[]): Promise<string> {
    return (await answer<TaskView>(['add', title, ...more], this.at)).id;
  }

  async task(id: string): Promise<TaskView> {
    return answer<TaskView>(['show', id], this.at);
  }

  worktree(id: string): string {
    const line = git(this.folder, 'worktree', 'list', '--porcelain')
      .split('\n')
      .find((text) => text.startsWith('worktree ') && text.includes(id));
    return line?.slice('worktree '.length) ?? '';
  }

  async orchestrate(): Promise<string> {
    return untilIdle(this.at);
  }

  /** Everything in the repository that is not the task's. */
  others(id: string) {
    const common = path.join(this.folder, '.git');
    const refs = git(this.folder, 'for-each-ref', '--format=%(refname) %(objectname)').split('\n');
    return {
      refs: refs.filter((line) => !line.includes(id) && !line.startsWith('refs/copse/')),
      config: readFileSync(path.join(common, 'config'), 'utf8'),
      packed: readFileSync(path.join(common, 'packed-refs'), 'utf8'),
      hooks: readdirSync(path.join(common, 'hooks')),
      packs: readdirSync(path.join(common, 'objects', 'pack')),
      main: git(this.folder, 'status', '--porcelain'),
      home: readdirSync(this.home),
      keys: readdirSync(path.join(this.home, '.ssh')),
      copse: ['intruder', 'attempts/intruder'].filter((name) =>
        existsSync(path.join(this.folder, '.copse', name)),
      ),
    };
  }

  /** Everything in the repository that neither the task nor its landing changes. */
  unmoved(id: string): unknown {
    const { refs, packed: _, packs: __, ...rest } = this.others(id);
    return {
      ...rest,
      refs: refs.filter((line) => !line.startsWith('refs/heads/main ')),
      intruders: ['intruder.txt', 'x'].map((name) => existsSync(path.join(this.place, 'shared', name))),
    };
  }

  attempts(): readonly string[] {
    const folder = path.join(this.folder, '.copse', 'attempts');
    return existsSync(folder) ? readdirSync(folder) : [];
  }
}
