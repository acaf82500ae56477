import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, describe, expect, it } from 'vitest';

import { askPs, parseStat } from '../../../packages/copse/src/processes/identity.ts';
import { askLsof, openOccupancy } from '../../../packages/copse/src/processes/occupancy.ts';
import type { ProcessIdentity } from '../../../packages/copse/src/kernel/process.ts';
import { newArea } from '../../support/cli.ts';

const isLinux = process.platform === 'linux';
const isRoot = process.getuid?.() === 0;
const area = newArea();
const socket = `copse-test-${process.pid}`;
const occupancy = openOccupancy({ socket });
const nobody = { roots: [], sessions: [] };
const started: number[] = [];

afterEach(() => {
  for (const pid of started.splice(0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended, which is what most of these tests are about.
    }
  }
});

let folders = 0;

function newFolder(name = "wörk 'tree'"): string {
  folders += 1;
  const folder = path.join(area, String(folders), name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function start(cwd: string, script: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = spawn('sh', ['-c', script], {
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  });
  started.push(child.pid!);
  return child;
}

/** A process that says its pid when it is as it should be. */
async function pidFrom(child: ChildProcess): Promise<number> {
  const line = await new Promise<string>((resolve) => {
    let text = '';
    child.stdout!.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      if (text.includes('\n')) resolve(text);
    });
  });
  const pid = Number.parseInt(line, 10);
  started.push(pid);
  return pid;
}

async function startIn(cwd: string, env?: Readonly<Record<string, string>>): Promise<number> {
  return pidFrom(start(cwd, 'echo $$; exec sleep 600', env));
}

async function pidsIn(folder: string): Promise<readonly number[]> {
  const inside = await occupancy.inside(folder, nobody);
  if (inside.kind === 'unknown') throw new Error(inside.why);
  return inside.processes.map(({ pid }) => pid);
}

async function identity(pid: number): Promise<ProcessIdentity> {
  const found = await occupancy.identify(pid);
  if (found === undefined) throw new Error(`${pid} does not run`);
  return found;
}

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await what())) await sleep(10);
}

describe('a process inside a folder', () => {
  it('is found with pid, program and path, in the folder itself and below', async () => {
    const folder = newFolder();
    const below = path.join(folder, 'süb földer', '林');
    mkdirSync(below, { recursive: true });
    const pids = [await startIn(folder), await startIn(below)];
    await until(async () => (await occupancy.inside(folder, nobody)).kind === 'known');
    const inside = await occupancy.inside(folder, nobody);
    expect(inside).toMatchObject({ kind: 'known', unreadable: [] });
    const places =
      inside.kind === 'known' ? inside.processes.map(({ pid, at, isOurs }) => ({ pid, at, isOurs })) : [];
    expect(places.toSorted((a, b) => a.pid - b.pid)).toEqual(
      [
        { pid: pids[0], at: folder, isOurs: false },
        { pid: pids[1], at: below, isOurs: false },
      ].toSorted((a, b) => a.pid! - b.pid!),
    );
  });

  it('is not in a folder whose name only begins alike, or above', async () => {
    const folder = newFolder('cp-1');
    mkdirSync(`${folder}0`);
    await startIn(`${folder}0`);
    await startIn(path.dirname(folder));
    expect(await pidsIn(folder)).toEqual([]);
  });

  it('is found through a link to the folder', async () => {
    const folder = newFolder();
    const link = path.join(path.dirname(folder), 'link');
    symlinkSync(folder, link);
    const pid = await startIn(folder);
    expect(await pidsIn(link)).toEqual([pid]);
  });

  it.runIf(isLinux)('is found when the folder below, or the whole folder, was deleted', async () => {
    const folder = newFolder();
    const below = path.join(folder, 'gone');
    mkdirSync(below);
    const pid = await startIn(below);
    rmSync(below, { recursive: true });
    expect(await pidsIn(folder)).toEqual([pid]);
    const above = await startIn(folder);
    rmSync(folder, { recursive: true });
    expect((await pidsIn(folder)).toSorted()).toEqual([pid, above].toSorted());
  });

  it('counts for the new path when the folder was renamed', async () => {
    const folder = newFolder();
    const pid = await startIn(folder);
    renameSync(folder, `${folder} aside`);
    expect(await pidsIn(folder)).toEqual([]);
    expect(await pidsIn(`${folder} aside`)).toEqual([pid]);
  });

  it.runIf(isLinux)('is also one whose program file is there', async () => {
    const folder = newFolder();
    const program = path.join(folder, 'own sleep');
    copyFileSync(execFileSync('sh', ['-c', 'command -v sleep'], { encoding: 'utf8' }).trim(), program);
    chmodSync(program, 0o755);
    const child = spawn(program, ['600'], { cwd: area, stdio: 'ignore' });
    started.push(child.pid!);
    await until(async () => (await pidsIn(folder)).length > 0);
    expect(await pidsIn(folder)).toEqual([child.pid]);
  });

  it('is not this process, nor one that is left out', async () => {
    const folder = newFolder();
    const before = process.cwd();
    const pid = await startIn(folder);
    // Workers of the test runner are processes of their own, so this disturbs nobody.
    process.chdir(folder);
    try {
      expect(await pidsIn(folder)).toEqual([pid]);
      expect(await occupancy.inside(folder, nobody, [pid])).toMatchObject({ processes: [] });
    } finally {
      process.chdir(before);
    }
  });

  it.runIf(isLinux)('is not a zombie', async () => {
    const folder = newFolder();
    // It ends when its parent is a program that waits for no child.
    const child = "sh -c 'while [ $(cat /proc/$PPID/comm) != sleep ]; do :; done'";
    const zombie = await pidFrom(start(folder, `${child} & echo $!; cd /; exec sleep 600`));
    await until(() => / Z /.test(readFileSync(`/proc/${zombie}/stat`, 'latin1')));
    expect(await occupancy.identify(zombie)).toBeUndefined();
    expect(await pidsIn(folder)).toEqual([]);
  });

  it.runIf(isLinux && isRoot && canMount())(
    'is found in a container that has the folder elsewhere',
    async () => {
      const folder = newFolder();
      mkdirSync(path.join(folder, 'below'));
      const other = newFolder('mount');
      const script = 'mount --bind "$FROM" "$TO" && cd "$TO/below" && echo $$ && exec sleep 600';
      const child = spawn('unshare', ['--mount', 'sh', '-c', script], {
        cwd: area,
        env: { ...process.env, FROM: folder, TO: other },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      started.push(child.pid!);
      const pid = await pidFrom(child);
      expect(await pidsIn(folder)).toEqual([pid]);
      expect(await pidsIn(newFolder())).toEqual([]);
    },
  );
});

describe('a process of an agent', () => {
  const owned = async (folder: string, owners: Parameters<typeof occupancy.inside>[1]) => {
    const inside = await occupancy.inside(folder, owners);
    return inside.kind === 'known'
      ? inside.processes.filter(({ isOurs }) => isOurs).map(({ pid }) => pid)
      : undefined;
  };

  it('is a recorded process and its descendants, and no other', async () => {
    const folder = newFolder();
    const agent = start(folder, 'sh -c "echo \\$\\$; exec sleep 600" & wait');
    const below = await pidFrom(agent);
    const foreign = await startIn(folder);
    const own = await owned(folder, { roots: [await identity(agent.pid!)], sessions: [] });
    expect(own).toEqual(expect.arrayContaining([agent.pid, below]));
    expect(own).not.toContain(foreign);
  });

  it('is none when another process has the pid now', async () => {
    const folder = newFolder();
    const pid = await startIn(folder);
    const { startTime } = await identity(pid);
    expect(await owned(folder, { roots: [{ pid, startTime: startTime - 1 }], sessions: [] })).toEqual([]);
  });

  it.runIf(isLinux)('is one that a session left behind, recognised by its environment', async () => {
    const folder = newFolder();
    const script = 'setsid sh -c "echo \\$\\$; exec sleep 600" &';
    const left = await pidFrom(start(folder, script, { COPSE_SESSION_ID: 'se-1' }));
    // The shell that left it behind may take a moment to end.
    await expect.poll(() => owned(folder, { roots: [], sessions: ['se-1'] })).toEqual([left]);
    expect(await owned(folder, { roots: [], sessions: ['se-'] })).toEqual([]);
  });

  it.runIf(isLinux && canScript())(
    'is not a shell on a terminal, whatever its environment says',
    async () => {
      const folder = newFolder();
      const env = { ...process.env, COPSE_SESSION_ID: 'se-2' };
      const child = spawn('script', ['-qec', 'exec sleep 600', '/dev/null'], {
        cwd: folder,
        env,
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      started.push(child.pid!);
      await until(async () => (await namesIn(folder)).includes('sleep'));
      const inside = await occupancy.inside(folder, { roots: [], sessions: ['se-2'] });
      const shell =
        inside.kind === 'known' ? inside.processes.find(({ name }) => name === 'sleep') : undefined;
      started.push(shell!.pid);
      expect(shell).toMatchObject({ isOurs: false });
    },
  );
});

describe('a process', () => {
  it('is alive while it runs, and not when its start time is another', async () => {
    const pid = await startIn(newFolder());
    const found = await identity(pid);
    expect(await occupancy.isAlive(found)).toBe(true);
    expect(await occupancy.isAlive({ ...found, startTime: found.startTime + 1 })).toBe(false);
    process.kill(pid, 'SIGKILL');
    await until(async () => !(await occupancy.isAlive(found)));
    expect(await occupancy.identify(pid)).toBeUndefined();
  });

  it('may be called anything', () => {
    const numbers = Array.from({ length: 48 }, (_, index) => String(index + 5));
    numbers[0] = '5';
    const line = `12 (a) Z (b ) 3 4) S 1 ${numbers.join(' ')}`;
    expect(parseStat(line)).toEqual({
      pid: 12,
      name: 'a) Z (b ) 3 4',
      parent: 1,
      group: 5,
      session: 6,
      hasTerminal: true,
      startTime: 22,
    });
    expect(parseStat(line.replace(') S 1', ') Z 1'))).toBeUndefined();
  });

  it('is the same to ps, which is used without /proc', async () => {
    const pid = await startIn(newFolder());
    const [found] = await askPs(['-p', String(pid)]);
    expect(found).toMatchObject({ pid, parent: process.pid, name: 'sleep' });
    expect(Math.abs(found!.startTime - Date.now())).toBeLessThan(3_600_000);
    expect(await askPs(['-p', '2147483646'])).toEqual([]);
  });

  it.runIf(has('lsof'))('is seen by lsof, which is used without /proc', async () => {
    const folder = newFolder();
    const pid = await startIn(folder);
    expect((await askLsof()).get(pid)).toContain(folder);
  });
});

describe('ending processes', () => {
  const graceMs = 300;

  it('reaches children that left the group and the session, and those that lost their parent', async () => {
    const folder = newFolder();
    // One child in a session of its own, and in there one whose parent is gone.
    const script = 'setsid sh -c "(sleep 601 &) ; echo \\$\\$; exec sleep 602" & sleep 603 & wait';
    const child = start(folder, script);
    await pidFrom(child);
    await until(async () => (await namesIn(folder)).filter((name) => name === 'sleep').length === 3);
    const { ended, remaining } = await occupancy.end([await identity(child.pid!)], { graceMs });
    expect(remaining).toEqual([]);
    expect(ended.length).toBeGreaterThanOrEqual(4);
    expect(await pidsIn(folder)).toEqual([]);
  });

  it('lets a process end after SIGTERM, and kills one that does not', async () => {
    const folder = newFolder();
    const polite = start(folder, 'trap "echo bye > said; exit" TERM; echo $$; while :; do sleep 0.02; done');
    const stubborn = start(folder, 'trap "" TERM; echo $$; while :; do sleep 0.02; done');
    await Promise.all([pidFrom(polite), pidFrom(stubborn)]);
    const both = [await identity(polite.pid!), await identity(stubborn.pid!)];
    expect(await occupancy.end(both, { graceMs: 2_000 })).toMatchObject({ remaining: [] });
    expect(readFileSync(path.join(folder, 'said'), 'utf8')).toBe('bye\n');
    // A `sleep` that was started in the moment of the kill has no parent to be found by, and ends by itself.
    await until(async () => (await pidsIn(folder)).length === 0);
  });

  it('kills one that is stopped', async () => {
    const pid = await startIn(newFolder());
    const stopped = await identity(pid);
    process.kill(pid, 'SIGSTOP');
    expect(await occupancy.end([stopped], { graceMs })).toEqual({ ended: [stopped], remaining: [] });
  });

  it('never signals a process that has the pid of an earlier one', async () => {
    const pid = await startIn(newFolder());
    const now = await identity(pid);
    const earlier = { pid, startTime: now.startTime - 1 };
    expect(await occupancy.end([earlier], { graceMs })).toEqual({ ended: [], remaining: [] });
    expect(await occupancy.isAlive(now)).toBe(true);
  });

  it('ends nothing when it would end itself', async () => {
    const pid = await startIn(newFolder());
    const { ended, remaining } = await occupancy.end([await identity(process.pid)], { graceMs });
    expect(ended).toEqual([]);
    const identities = remaining.map(({ pid: one, startTime }) => ({ pid: one, startTime }));
    expect(identities).toEqual(expect.arrayContaining([await identity(process.pid), await identity(pid)]));
    // It has another name before the shell becomes it.
    const name = expect.stringMatching(/^(sleep|sh)$/) as string;
    expect(remaining).toContainEqual({ ...(await identity(pid)), name, user: null });
  });
});

describe.runIf(has('tmux'))('the terminal of a task', () => {
  const tmux = (...argv: readonly string[]) => {
    const { TMUX: _, ...env } = process.env;
    return execFileSync('tmux', ['-L', socket, ...argv], { env, encoding: 'utf8', stdio: 'pipe' });
  };
  afterAll(() => {
    try {
      tmux('kill-server');
    } catch {
      // Its last session ended, and it with it.
    }
  });

  it('is none without a server', async () => {
    expect(await occupancy.tmuxSessions('copse-cp-1')).toEqual({ kind: 'known', sessions: [] });
    expect(await occupancy.killTmuxSession('copse-cp-1')).toBe(false);
  });

  it('is the session with exactly its name, with the processes in it', async () => {
    const folder = newFolder();
    for (const name of ['copse-cp-1', 'copse-cp-10'])
      tmux('new-session', '-d', '-s', name, '-c', folder, 'sleep 600');
    const found = await occupancy.tmuxSessions('copse-cp-1');
    expect(found).toEqual({
      kind: 'known',
      sessions: [{ name: 'copse-cp-1', panes: [expect.any(Number)], launchers: [], attached: 0 }],
    });
    const pane = found.kind === 'known' ? found.sessions[0]!.panes[0]! : 0;
    expect(await pidsIn(folder)).toContain(pane);

    expect(await occupancy.killTmuxSession('copse-cp')).toBe(false);
    expect(await occupancy.killTmuxSession('copse-cp-1')).toBe(true);
    expect(await occupancy.tmuxSessions('copse-cp-1')).toEqual({ kind: 'known', sessions: [] });
    expect(await occupancy.killTmuxSession('copse-cp-1')).toBe(false);
    expect(await occupancy.tmuxSessions('copse-cp-10')).toMatchObject({
      sessions: [{ name: 'copse-cp-10' }],
    });
  });

  it('is unknown when tmux answers with something else', async () => {
    const found = await openOccupancy({ socket: 'x'.repeat(300) }).tmuxSessions('copse-cp-1');
    expect(found).toMatchObject({ kind: 'unknown' });
  });
});

async function namesIn(folder: string): Promise<readonly string[]> {
  const inside = await occupancy.inside(folder, nobody);
  return inside.kind === 'known' ? inside.processes.map(({ name }) => name) : [];
}

function has(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function canScript(): boolean {
  return has('script');
}

function canMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
