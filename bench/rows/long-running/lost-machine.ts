/**
 * From the loss of a machine until its task runs on another one, with the commit and the uncommitted file of its last
 * snapshot. The lease is part of that time: no other machine may take the task before it ends.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { bundle, run } from '../../commands.ts';
import { type Bench, type Row, inMs, median } from '../../row.ts';

const LEASE_MS = 10_000;
const LOOK_MS = 20;
const GIVE_UP_MS = 90_000;

export const lostMachine: Row = {
  name: 'lost-machine',
  timeoutMs: 600_000,
  async measure(bench) {
    const timesMs: number[] = [];
    for (let round = 0; round < (bench.isQuick ? 1 : 3); round += 1) timesMs.push(await loseOne(bench));
    return [
      {
        what: 'a machine is lost, until its task runs elsewhere from its last snapshot',
        measured: inMs(median(timesMs)),
        against: `${inMs(LEASE_MS)} of lease`,
        figure: (median(timesMs) - LEASE_MS) / 1_000,
        goal: { atMost: 10, unit: 's after the lease' },
        limit: 0,
      },
    ];
  },
};

/** Writes one line for each attempt; the first one commits a file, leaves another uncommitted, and waits. */
const AGENT = `
if [ -e committed.txt ] && [ -e loose.txt ]; then echo again >>"$0.log"; exit 0; fi
echo one >committed.txt && git add . && git commit -qm 'feat: one' && echo two >loose.txt
echo first >>"$0.log"
sleep 600
`;

async function loseOne(bench: Bench): Promise<number> {
  const place = await bench.newFolder();
  const board = await bench.newPostgresUrl();
  const script = path.join(place, 'agent.sh');
  writeFileSync(script, AGENT);
  const remote = seedRemote(place, script);
  const machines = ['one', 'two'].map((name) => path.join(place, name));
  for (const folder of machines) {
    run(['git', 'clone', '--quiet', remote, folder], place);
    run(['git', 'config', 'user.name', 'Bench'], folder);
    run(['git', 'config', 'user.email', 'bench@example.invalid'], folder);
    bench.atEnd(() => killIn(folder));
  }
  const [lost, other] = machines as [string, string];
  start(lost, board);
  run(['env', `COPSE_BOARD=${board}`, ...bundle, 'add', 'Travels'], lost);
  await until(() => linesOf(script).length === 1);
  await until(() => /^[0-9a-f]+ refs\/copse\/work\//m.test(run(['git', 'show-ref'], remote)));
  await until(() => hasLooseFile(remote));
  start(other, board);
  await until(() => existsSync(path.join(other, '.copse', 'node')));
  const beganMs = performance.now();
  killIn(lost);
  await until(() => linesOf(script).length === 2);
  const tookMs = performance.now() - beganMs;
  if (linesOf(script)[1] !== 'again') throw new Error('The second attempt began without the snapshot');
  killIn(other);
  return tookMs;
}

function seedRemote(place: string, script: string): string {
  const seed = path.join(place, 'seed');
  const remote = path.join(place, 'remote.git');
  mkdirSync(seed);
  run(['git', 'init', '--quiet', '--initial-branch=main'], seed);
  const settings = {
    agents: { worker: { command: ['sh', script] } },
    policy: { lease: `${LEASE_MS}ms`, lease_renewal: '2s', snapshot_every: '1s', min_free_memory: '50MB' },
  };
  writeFileSync(path.join(seed, 'copse.yml'), JSON.stringify(settings));
  run(['git', 'add', '--all'], seed);
  const author = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.invalid'] as const;
  run(['git', ...author, 'commit', '--quiet', '--message=first'], seed);
  run(['git', 'clone', '--quiet', '--bare', seed, remote], place);
  return remote;
}

function start(cwd: string, board: string): ChildProcess {
  const [program, ...args] = bundle;
  return spawn(program, [...args, 'orchestrate'], {
    cwd,
    env: { ...process.env, COPSE_BOARD: board },
    stdio: 'ignore',
  });
}

const linesOf = (script: string): readonly string[] =>
  existsSync(`${script}.log`) ? readFileSync(`${script}.log`, 'utf8').split('\n').slice(0, -1) : [];

function hasLooseFile(remote: string): boolean {
  const refs = run(['git', 'for-each-ref', '--format=%(refname)', 'refs/copse/work'], remote);
  return refs
    .split('\n')
    .filter(Boolean)
    .some((ref) =>
      run(['git', 'log', '--format=', '--name-only', '-m', ref, '--not', 'main'], remote).includes(
        'loose.txt',
      ),
    );
}

async function until(isSo: () => boolean): Promise<void> {
  for (const began = performance.now(); !isSo(); await sleep(LOOK_MS))
    if (performance.now() - began > GIVE_UP_MS) throw new Error(`It never was so: ${String(isSo)}`);
}

/** As a machine ends that loses its power: every process in the folder or about it, at once. */
function killIn(folder: string): void {
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    const pid = Number(name);
    if (pid === process.pid) continue;
    try {
      const cwd = readlinkSync(`/proc/${pid}/cwd`);
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (cwd === folder || cwd.startsWith(`${folder}/`) || words.includes(`${folder}/`))
        process.kill(pid, 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  }
}
