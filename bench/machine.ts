/** What the figures were measured on. */

import { execFileSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import pg from 'pg';

import { inMs, median } from './row.ts';
import type { Scratch } from './scratch.ts';

export async function describeMachine(scratch: Scratch): Promise<readonly string[]> {
  const server = await scratch.startedServer();
  return [
    `${availableParallelism()} cores`,
    `node ${process.versions.node}`,
    execFileSync('git', ['--version'], { encoding: 'utf8' }).trim().replace('version ', ''),
    `sqlite ${sqliteVersion()}`,
    server === undefined ? 'postgres not used' : `postgres ${await postgresVersion(server)}`,
    `fdatasync of 4 KB ${inMs(medianSyncMs(await scratch.newFolder()))}`,
  ];
}

function sqliteVersion(): string {
  using database = new DatabaseSync(':memory:');
  return String(database.prepare('select sqlite_version() as version').get()?.['version']);
}

async function postgresVersion(connectionString: string): Promise<string> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('show server_version');
  await client.end();
  return rows[0]!.server_version;
}

/** The price of durability here: no commit can be cheaper. */
function medianSyncMs(folder: string): number {
  const file = openSync(path.join(folder, 'synced'), 'w');
  const page = Buffer.alloc(4_096, 1);
  const timesMs: number[] = [];
  for (let write = 0; write < 100; write += 1) {
    const beganMs = performance.now();
    writeSync(file, page, 0, page.length, write * page.length);
    fdatasyncSync(file);
    timesMs.push(performance.now() - beganMs);
  }
  closeSync(file);
  return median(timesMs);
}
