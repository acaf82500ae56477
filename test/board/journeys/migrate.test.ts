/** A board moves between SQLite and PostgreSQL with everything on it; the old one is kept, and takes no changes. */

import { randomBytes } from 'node:crypto';
import path from 'node:path';

import { describe, expect, inject, it, vi } from 'vitest';

import { openBoard, openEngine } from '../../../packages/copse/src/board/open.ts';
import { BoardTooNew } from '../../../packages/copse/src/board/port.ts';
import { freeze } from '../../../packages/copse/src/board/sql/moved.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { answer, copse, newArea, newRepository, newTasks } from '../../support/cli.ts';
import { contextOf } from '../../support/board/boards.ts';
import { must, newTask } from '../../support/records/tasks.ts';
import { claimTask } from '../../../packages/copse/src/tasks/act/claims.ts';
import {
  type AgentName,
  type AttemptId,
  type NodeId,
  type SessionId,
  type TaskId,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';

vi.setConfig({ testTimeout: 120_000 });
const area = newArea();

function newDatabase(): string {
  return `${inject('postgresUrl')}?schema=t_${randomBytes(6).toString('hex')}`;
}

async function exported(cwd: string, board?: string): Promise<readonly string[]> {
  const { stdout } = await copse(['export'], { cwd, ...(board && { env: { COPSE_BOARD: board } }) });
  return stdout.trimEnd().split('\n').slice(1);
}

describe('copse board migrate', () => {
  // promise: board-moves-whole
  it('moves to PostgreSQL and back, line by line the same, and the old board takes no changes', async () => {
    const cwd = newRepository(area);
    const file = path.join(cwd, '.copse', 'board.db');
    await newTasks(['First', 'Second'], { cwd });
    const before = await exported(cwd);
    const open = await openBoard({ engine: 'sqlite', file }, defaultPolicy, { id: 'bo-x', at: 0 });
    const url = newDatabase();
    expect(await answer(['board', 'migrate', '--to', url], { cwd })).toMatchObject({
      events: 2,
      aside: null,
    });
    expect(await exported(cwd, url)).toEqual(before);

    // Neither a process that has it open nor a new one.
    await expect(newTask(open, { title: 'Too late' })).rejects.toThrow(BoardTooNew);
    await open.close();
    const refused = await copse(['add', 'Too late'], { cwd });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('The board moved from');
    expect(refused.stderr).toContain('COPSE_BOARD');

    await answer(['add', 'Third'], { cwd, env: { COPSE_BOARD: url } });
    const later = await exported(cwd, url);
    const back = await answer<{ aside: string | null }>(['board', 'migrate', '--to', 'sqlite'], {
      cwd,
      env: { COPSE_BOARD: url },
    });
    expect(back.aside).toContain('aside-');
    expect(await exported(cwd)).toEqual(later);
    expect((await copse(['list'], { cwd, env: { COPSE_BOARD: url } })).stderr).toContain(
      'The board moved from',
    );
  });

  it('goes on after a kill, and moves nothing onto a board that is not empty', async () => {
    const cwd = newRepository(area);
    const file = path.join(cwd, '.copse', 'board.db');
    await newTasks(['First'], { cwd });
    const before = await exported(cwd);
    const url = newDatabase();
    const taken = newDatabase();
    await answer(['add', 'Another'], { cwd, env: { COPSE_BOARD: taken } });
    const refused = await copse(['board', 'migrate', '--to', taken], { cwd });
    expect(refused.stderr).toContain('is not empty');
    await newTasks(['Second'], { cwd });

    const target = await openEngine({ engine: 'postgres', url }, defaultPolicy.board);
    const engine = await openEngine({ engine: 'sqlite', file }, defaultPolicy.board);
    await freeze(engine, target.location);
    await Promise.all([engine.close(), target.close()]);
    const interrupted = await copse(['list'], { cwd });
    expect(interrupted.stderr).toContain('its move was interrupted');
    expect(await answer(['board', 'migrate', '--to', url], { cwd })).toMatchObject({ events: 2 });
    expect((await exported(cwd, url)).length).toBeGreaterThan(before.length);
  });

  it('is refused while an agent holds a task, and with an address that is none', async () => {
    const cwd = newRepository(area);
    const [{ id }] = await newTasks(['Held'], { cwd });
    const file = path.join(cwd, '.copse', 'board.db');
    const board = await openBoard({ engine: 'sqlite', file }, defaultPolicy, { id: 'bo-x', at: 0 });
    const claimant = {
      session: brand<SessionId>('se-1'),
      attempt: brand<AttemptId>('at-1'),
      node: brand<NodeId>('no-1'),
      agent: brand<AgentName>('coder'),
    };
    must(await claimTask(contextOf(board), brand<TaskId>(id), claimant));
    const held = await copse(['board', 'migrate', '--to', newDatabase()], { cwd });
    expect(held.stderr).toContain(`Agents work on ${id}, so the board cannot move`);
    await newTask(board, { title: 'Still open' });
    await board.close();
    expect((await copse(['board', 'migrate', '--to', 'mysql://x'], { cwd })).stderr).toContain(
      '--to must be',
    );
    expect((await copse(['board', 'migrate', '--to', 'sqlite'], { cwd })).stderr).toContain('there already');
  });
});

describe('on PostgreSQL', () => {
  it('backup names the command that dumps exactly its schema, and doctor says what a failover may lose', async () => {
    const cwd = newRepository(area);
    const url = newDatabase();
    const env = { COPSE_BOARD: url };
    await answer(['add', 'First'], { cwd, env });
    const schema = new URL(url).searchParams.get('schema');
    expect((await copse(['board', 'backup'], { cwd, env })).stderr).toContain(
      `pg_dump --format=custom --schema=${schema}`,
    );
    const { stdout } = await copse(['doctor'], { cwd, env });
    expect(stdout).toContain('no standby: a failover or a restored backup may lose the last changes');
  });
});
