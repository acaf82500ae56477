/** A day with Copse: issues of a GitHub server and boxes of a list as work, six agents of three kinds, and a person. */

import { createHmac } from 'node:crypto';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { openRun } from '../../../packages/copse/src/compose/run/run.ts';
import { receiveRequest } from '../../../packages/copse/src/intake/act/triggers.ts';
import { openSignatures } from '../../../packages/copse/src/intake/signatures/verify.ts';
import { type ScheduleId, type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { Run } from '../agents/runs.ts';
import { type RunOptions, git, newRepository, plainEnv, commitAsAgent } from '../cli.ts';
import { IssueServer } from '../issue-server/server.ts';
import { type ListedTask, tasksOf } from '../issue-server/site.ts';

const secret = 'not a real secret';
const programs = ['work.sh', 'codex', 'acp.sh'];

export const agentNames = ['command-1', 'command-2', 'codex-1', 'codex-2', 'acp-1', 'acp-2'];

export class Day {
  readonly run: Run;
  readonly server: IssueServer;
  /** What the agents share, outside of the repository. */
  readonly folder: string;
  /** For the commands of a person. */
  readonly at: RunOptions;

  private constructor(run: Run, server: IssueServer, folder: string) {
    this.run = run;
    this.server = server;
    this.folder = folder;
    this.at = { cwd: run.folder, env: server.env };
  }

  static async begin(area: string, { list }: { readonly list: string }): Promise<Day> {
    const server = await IssueServer.start('github');
    const folder = path.join(area, 'the "day"');
    mkdirSync(folder);
    for (const name of programs)
      cpSync(fileURLToPath(new URL(name, import.meta.url)), path.join(folder, name));
    const repository = newRepository(area);
    commitAsAgent(repository);
    writeFileSync(path.join(repository, 'TODO.md'), list);
    writeFileSync(path.join(repository, 'copse.yml'), JSON.stringify(configuration(folder), null, 2));
    git(repository, 'add', '--all');
    git(repository, 'commit', '--quiet', '--message=chore: set up');
    const env = { ...server.env, DAY_SECRET: secret, PATH: `${folder}:${plainEnv['PATH']}` };
    return new Day(await Run.around(repository, path.join(folder, 'said.log'), env), server, folder);
  }

  tasks(): Promise<readonly ListedTask[]> {
    return tasksOf(this);
  }

  /** The task with this title, once it is there. */
  async taskOf(title: string): Promise<TaskId> {
    let found: ListedTask | undefined;
    await this.run.until(async () => {
      found = (await this.tasks()).find((task) => task.title === title);
      return found !== undefined;
    });
    return brand<TaskId>(found?.id ?? '');
  }

  async becomes(task: TaskId, status: string): Promise<void> {
    await this.run.until(
      async () => (await this.run.context.board.get('task', task))?.state.status === status,
    );
  }

  allow(name: string): void {
    writeFileSync(path.join(this.folder, name), '');
  }

  /** Which agents said this word, and about which task. */
  said(word: string): readonly { readonly slug: string; readonly task: string; readonly agent: string }[] {
    return this.run.said().flatMap((line) => {
      const [first, slug = '', task = '', agent = ''] = line.split(' ');
      return first === word ? [{ slug, task, agent }] : [];
    });
  }

  /** As an orchestrator did that set it yesterday: its time is now. */
  async makeDue(id: string): Promise<void> {
    const { board, clock } = this.run.context;
    const [agent, name] = id.split('/') as [never, string];
    const now = clock.now();
    const timing = { type: 'cron', expression: cron } as const;
    const event = { id: brand<ScheduleId>(id), at: now, agent, name, timing, nextAt: timestamp(now - 1) };
    await board.transact((transaction) =>
      transaction.record({ kind: 'person', name: null }, [{ type: 'schedule.set', ...event }]),
    );
  }

  /** A request to a trigger, signed as its sender does; what became of it. */
  async deliver(name: 'hook' | 'deploy', id: string, body: string): Promise<string> {
    const { env } = this.run;
    const opened = await openRun({ cwd: this.run.folder, env }, { asNode: true });
    try {
      const { intake } = opened.context;
      if (intake === undefined) throw new Error('copse.yml has no triggers');
      const places = { env, folder: this.run.folder, homeFolder: this.folder, onProblem: () => {} };
      const request = { headers: signed(name, id, body), body: Buffer.from(body) };
      const got = await receiveRequest(opened.context, intake, openSignatures(places), { name, request });
      return got.kind === 'done' ? got.value.kind : got.kind;
    } finally {
      await opened.close();
    }
  }
}

function signed(name: 'hook' | 'deploy', id: string, body: string): Readonly<Record<string, string>> {
  const hmac = (text: string) => `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
  return name === 'hook'
    ? { 'x-hub-signature-256': hmac(body), 'x-github-delivery': id }
    : { 'x-copse-signature': hmac(`${id}.${body}`), 'x-copse-delivery': id };
}

/** Half a day away from now, so that it comes only when the test says so. */
const cron = `0 ${(new Date().getUTCHours() + 12) % 24} * * *`;

function configuration(day: string): object {
  const env = { DAY: day };
  const kinds = {
    command: { command: ['sh', path.join(day, 'work.sh'), day] },
    codex: { runtime: 'codex', permissions: 'all', env },
    acp: { runtime: 'acp', permissions: 'all', command: ['sh', path.join(day, 'acp.sh')], env },
  };
  const schedules = { nightly: { type: 'cron', cron, missed: 'once', prompt: 'Nightly look' } };
  return {
    agents: Object.fromEntries(
      agentNames.map((name) => {
        const kind = name.split('-')[0] as keyof typeof kinds;
        return [name, { ...kinds[kind], max: 1, ...(name === 'acp-1' && { schedules }) }];
      }),
    ),
    sources: {
      gh: { type: 'github', repo: 'octo/trees', interval: '12h' },
      list: { type: 'markdown', files: ['TODO.md'], interval: '12h' },
    },
    triggers: {
      hook: { agent: 'command-1', type: 'github', secret_variable: 'DAY_SECRET', work_source: 'gh' },
      deploy: { agent: 'codex-1', secret_variable: 'DAY_SECRET', prompt: 'Deployment look' },
    },
    landing: { policy: 'auto' },
    maintenance: { worktree_cleanup: { max_worktree_age: '0' } },
    policy: {
      first_backoff: '100ms',
      max_backoff: '200ms',
      max_stuck_restarts: 1,
      poll_interval: '300ms',
      min_free_memory: '50MB',
      min_free_disk: '50MB',
      max_agents: agentNames.length,
    },
  };
}
