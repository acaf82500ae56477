/** Processes of an older Copse meet a board that a newer one migrated: they stop, say why, and use up no retry. */

import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';

import { afterAll, describe, expect, test } from 'vitest';

import { type BoardAddress, openEngine } from '../../../packages/copse/src/board/open.ts';
import { migrations } from '../../../packages/copse/src/board/migrations/index.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { endAgents, untilIdle } from '../../support/agents/scripted-agents.ts';
import { type EngineName, engines, newPlace } from '../../support/board/boards.ts';
import {
  answer,
  copse,
  finished,
  git,
  newArea,
  newRepository,
  printed,
  startCopse,
} from '../../support/cli.ts';
import { isLong } from '../../support/long.ts';
import { until } from '../../support/records/turns.ts';

const area = newArea();
afterAll(() => endAgents(area));

interface Site {
  readonly folder: string;
  readonly address: BoardAddress;
  readonly at: { readonly cwd: string; readonly env: Readonly<Record<string, string>> };
}

async function newSite(engine: EngineName, script: string): Promise<Site> {
  const folder = newRepository(area);
  const place = await newPlace(engine);
  afterAll(() => place[Symbol.asyncDispose]());
  const address: BoardAddress =
    engine === 'sqlite' ? { engine, file: path.join(folder, '.copse', 'board.db') } : place.address;
  writeFileSync(path.join(folder, 'agent.sh'), script);
  const config = {
    agents: { agent: { command: 'sh ./agent.sh' } },
    landing: { policy: 'review' },
    policy: { min_free_memory: '50MB', poll_interval: '200ms', max_retries: 1 },
  };
  writeFileSync(path.join(folder, 'copse.yml'), JSON.stringify(config));
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message=chore: agents');
  return {
    folder,
    address,
    at: { cwd: folder, env: address.engine === 'postgres' ? { COPSE_BOARD: address.url } : {} },
  };
}

/** As a newer Copse would: another version, and no other change. */
async function setVersion({ address }: Site, version: number): Promise<void> {
  const engine = await openEngine(address, defaultPolicy.board);
  await engine.db.updateTable('board').set({ version }).execute();
  await engine.close();
}

const NEWER = migrations.length + 1;

/** A process that is stopped inside a transaction keeps every other one from writing. */
async function stopBetweenWrites(child: ChildProcess, site: Site): Promise<void> {
  for (;;) {
    child.kill('SIGSTOP');
    await setTimeout(10);
    if (!isBeingWritten(site)) return;
    child.kill('SIGCONT');
    await setTimeout(10);
  }
}

function isBeingWritten({ address }: Site): boolean {
  if (address.engine !== 'sqlite') return false;
  const file = new DatabaseSync(address.file, { timeout: 0 });
  try {
    file.exec('begin immediate; rollback');
    return false;
  } catch {
    return true;
  } finally {
    file.close();
  }
}

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly retries: number;
}

describe.each(engines)('an older Copse on a board of %s that a newer one migrated', (engine) => {
  // promise: newer-board-refused
  test('stops before it starts a ready task', async () => {
    const site = await newSite(engine, 'touch "$COPSE_REPO_ROOT/ran"');
    const orchestrator = startCopse(['orchestrate'], site.at);
    const ended = finished(orchestrator);
    const locks = path.join(site.folder, '.copse', 'locks');
    await until(() => existsSync(path.join(locks, `orchestrator-${orchestrator.pid}`)));
    await stopBetweenWrites(orchestrator, site);
    const { id } = await answer<Shown>(['add', 'Ready'], site.at);
    await setVersion(site, NEWER);
    orchestrator.kill('SIGCONT');
    expect(await ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('A newer Copse wrote') as string,
    });
    await setVersion(site, migrations.length);
    expect(await answer<Shown>(['show', id], site.at)).toMatchObject({ status: 'ready', retries: 0 });
    expect(existsSync(path.join(site.folder, 'ran'))).toBe(false);
  });

  const isCheap = engine === 'sqlite' || isLong;
  // promise: newer-board-refused
  test.runIf(isCheap)(
    'ends a running attempt, which the newer one goes on with',
    { timeout: 60_000 },
    async () => {
      const site = await newSite(
        engine,
        `echo "$$" > "$COPSE_REPO_ROOT/pid"; test -e kept.txt || echo kept > kept.txt
       until test -e "$COPSE_REPO_ROOT/go"; do sleep 0.2; done
       git add kept.txt && git commit --quiet --message="feat: kept"`,
      );
      const { id } = await answer<Shown>(['add', 'Running'], site.at);
      const ended = finished(startCopse(['orchestrate'], site.at));
      await until(() => existsSync(path.join(site.folder, 'pid')));
      const agent = Number(readFileSync(path.join(site.folder, 'pid'), 'utf8'));
      await setVersion(site, NEWER);
      expect(await ended).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('A newer Copse wrote') as string,
      });
      await until(() => !existsSync(`/proc/${agent}`));
      const kept = path.join(site.folder, '.worktrees', id, 'kept.txt');
      expect(readFileSync(kept, 'utf8')).toBe('kept\n');
      const notes = path.join(site.folder, '.copse', 'attempts');
      await until(() => readdirSync(notes).some((name) => name.endsWith('.outdated.json')));

      // From here on this Copse is the newer one.
      await setVersion(site, migrations.length);
      const said = 'its Copse was older than the board';
      expect(await printed(['why', id], site.at)).toContain(said);
      const doctor = await copse(['doctor'], site.at);
      expect(doctor.stdout).toContain(said);
      expect(await answer<Shown>(['show', id], site.at)).toMatchObject({ status: 'in_progress', retries: 0 });
      writeFileSync(path.join(site.folder, 'go'), '');
      await untilIdle(site.at);
      expect(await answer<Shown>(['show', id], site.at)).toMatchObject({ status: 'in_review', retries: 0 });
      expect(
        git(
          site.folder,
          'show',
          `${git(site.folder, 'for-each-ref', '--format=%(refname)', `refs/heads/${id}`)}:kept.txt`,
        ),
      ).toBe('kept');
      expect((await copse(['events', '--json'], site.at)).stdout).not.toContain('"task.crashed"');
      expect(readdirSync(notes)).toEqual([]);
    },
  );
});
