/** A board that is gone or damaged is reported with what to do, and never replaced by an empty one. */

import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { describe, expect, test } from 'vitest';

import { answer, copse, newArea, newRepository, newTasks, printed } from '../../support/cli.ts';
import { newProject, taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();

function boardOf({ cwd }: { readonly cwd: string }): string {
  return path.join(cwd, '.copse', 'board.db');
}

function loseBoard(at: { readonly cwd: string }): void {
  for (const ending of ['', '-wal', '-shm', '-changed']) rmSync(`${boardOf(at)}${ending}`, { force: true });
}

describe('a board that is gone', () => {
  // promise: board-never-replaced
  test.each(['missing', 'empty'] as const)(
    'is not made anew while worktrees of it exist: %s',
    async (how) => {
      const at = newProject(area);
      const { task } = await taken('Work that must not be forgotten', at);
      if (how === 'missing') loseBoard(at);
      else truncateSync(boardOf(at), 0);
      for (const argv of [['list'], ['add', 'x'], ['worktrees'], ['cleanup', '--force']]) {
        const { code, stdout, stderr } = await copse(argv, at);
        expect({ argv, code, stdout }).toEqual({ argv, code: 1, stdout: '' });
        expect(stderr).toContain(boardOf(at));
        expect(stderr).toContain(how === 'missing' ? 'is gone' : 'is empty');
        expect(stderr).toContain('copse board rebuild');
        expect(stderr).toContain(task);
      }
      expect(existsSync(boardOf(at)) ? statSync(boardOf(at)).size : 'absent').toBe(
        how === 'missing' ? 'absent' : 0,
      );
      const doctor = await copse(['doctor'], at);
      expect(doctor.code).toBe(1);
      expect(doctor.stdout).toMatch(/✗ board .*(?:is gone|is empty)/);
    },
  );

  test('is made on first use, also beside an empty file that a killed first use left', async () => {
    const at = { cwd: newRepository(area) };
    expect(await printed(['list'], at)).not.toBe('');
    const again = { cwd: newRepository(area) };
    await copse(['list'], again);
    loseBoard(again);
    writeFileSync(boardOf(again), '');
    const [task] = await newTasks(['First'], again);
    expect(await printed(['list'], again)).toContain(task.id);
  });

  test('can be imported from an export', async () => {
    const at = newProject(area);
    const { task } = await taken('Kept in an export', at);
    await copse(['export', 'board.jsonl'], at);
    loseBoard(at);
    await answer(['import', 'board.jsonl'], at);
    expect(await printed(['list'], at)).toContain(task);
  });
});

describe('a damaged board', () => {
  test('is found by doctor, whichever page is damaged', async () => {
    const at = { cwd: newRepository(area) };
    for (let count = 0; count < 40; count += 1)
      await copse(['add', `Task ${count}`, '--body', 'x'.repeat(3_000)], at);
    const database = new DatabaseSync(boardOf(at));
    database.exec('pragma wal_checkpoint(truncate)');
    const { page_size: size } = database.prepare('pragma page_size').get() as { page_size: number };
    // An overflow page has no structure but its pointer: only pages of trees can be seen to be damaged.
    const trees = (
      database.prepare("select pageno from dbstat where pagetype in ('internal', 'leaf')").all() as {
        pageno: number;
      }[]
    ).map(({ pageno }) => pageno);
    database.close();
    const whole = readFileSync(boardOf(at));
    const missed: number[] = [];
    for (const page of trees) {
      const damaged = Buffer.from(whole);
      damaged.fill(0xa5, (page - 1) * size + (page === 1 ? 100 : 0), page * size);
      writeFileSync(boardOf(at), damaged);
      const { code, stdout } = await copse(['doctor'], at);
      if (code === 0 || !stdout.includes('✗ board')) missed.push(page);
    }
    expect({ pages: trees.length > 20, missed }).toEqual({ pages: true, missed: [] });
  });
});
