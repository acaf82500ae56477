/** What the reaper promises to those who start programs, and to the programs: it is not noticed, and loses none. */

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { afterEach, describe, expect, test } from 'vitest';

import { endMarked, endProcesses } from '../../../packages/copse/src/processes/end.ts';
import { identify, isAlive, listProcesses } from '../../../packages/copse/src/processes/identity.ts';
import {
  REAPER,
  type Reaper,
  perl,
  python,
  reaperHere,
} from '../../../packages/copse/src/processes/start/reaper.ts';
import { type Watched, startWatched } from '../../../packages/copse/src/processes/start/watched.ts';
import { running } from '../../support/agents/hiders.ts';
import { newArea } from '../../support/cli.ts';
import { until, wordsIn } from '../../support/records/turns.ts';

const area = newArea();
const environment = { PATH: process.env['PATH'] ?? '', MARK: 'a\nb' };
const started: Watched[] = [];
let folders = 0;

function newFolder(): string {
  folders += 1;
  const folder = path.join(area, `f ${folders}`);
  mkdirSync(folder);
  return folder;
}

afterEach(async () => {
  for (const { child } of started.splice(0)) {
    const first = child.pid === undefined ? undefined : await identify(child.pid);
    if (first !== undefined) await endProcesses([first], { graceMs: 0 });
  }
});

const kinds = [
  ['perl', perl()],
  ['python3', python()],
  ['no reaper', null],
] as const;
const here = kinds.filter(([, reaper]) => process.platform === 'linux' && reaper !== undefined);

test.runIf(process.platform === 'linux')('this machine has one', () => {
  expect(reaperHere()?.kind).toBe('perl');
});

describe.each(here)('a program below %s', (kind, reaper) => {
  const hasReaper = reaper !== null && reaper !== undefined;

  function start(
    argv: readonly [string, ...string[]],
    folder = newFolder(),
    how: { readonly variables?: Record<string, string>; readonly by?: Reaper | null } = {},
  ): Watched {
    const stdio = ['pipe', 'pipe', 'pipe'] as const;
    const { by = reaper ?? null } = how;
    const variables = { ...environment, ...how.variables };
    const watched = startWatched({ argv, folder, environment: variables, stdio, reaper: by });
    started.push(watched);
    return watched;
  }
  const shell = (script: string, folder?: string) => start(['sh', '-c', script], folder);

  async function end({ child }: Watched, graceMs = 0) {
    return endProcesses([(await identify(child.pid!))!], { graceMs });
  }

  // promise: reaper-unnoticed
  test('gets its arguments, variables, folder and streams, and hands back what it ends with', async () => {
    const folder = newFolder();
    const watched = start(['sh', '-c', 'env; pwd; cat; echo "$0" "$1" >&2; exit 7', 'ä ö', '$x'], folder);
    watched.child.stdin?.end('put in');
    const [out, error] = await Promise.all([text(watched.child.stdout!), text(watched.child.stderr!)]);
    expect(out).toContain('MARK=a\nb\n');
    expect(out).toContain(`${folder}\nput in`);
    expect(error).toBe('ä ö $x\n');
    expect(await watched.ended).toEqual({ kind: 'exited', code: 7 });
    expect(await shell('kill -SEGV $$').ended).toEqual({ kind: 'signalled', signal: 'SIGSEGV' });
  });

  // promise: reaper-unnoticed
  test('begins with the signals of a program that was started directly, and no other open file', async () => {
    const watched = shell('grep ^Sig /proc/self/status | tail -n 4; ls /proc/$$/fd');
    const direct = startWatched({
      argv: ['sh', '-c', 'grep ^Sig /proc/self/status | tail -n 4; ls /proc/$$/fd'],
      folder: area,
      environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      reaper: null,
    });
    const [said, expected] = await Promise.all([watched, direct].map(({ child }) => text(child.stdout!)));
    expect(said).toBe(expected);
    expect(said).toContain('SigIgn');
  });

  // promise: reaper-unnoticed
  test.each([
    ['PERL_UNICODE', 'SAD'],
    ['PERL5OPT', '-MNoSuch'],
    ['PERL5OPT', '-T -w'],
    ['PERL5LIB', '.'],
    ['PERLIO', ':utf8'],
    ['PYTHONHOME', '/nowhere'],
    ['PYTHONPATH', '.'],
    ['PYTHONINSPECT', '1'],
    ['PYTHONVERBOSE', '1'],
    ['LC_ALL', 'xx_XX.UTF-8'],
  ])('has %s=%s of the person, which the reaper does not obey', async (name, value) => {
    const folder = newFolder();
    for (const module of ['warnings.pm', 'strict.pm', 'ctypes.py', 'signal.py', 'sitecustomize.py'])
      writeFileSync(path.join(folder, module), 'BROKEN = open("loaded", "w"); exit(9)');
    const variables = { [name]: value, PERL_NOTE: 'ä=\n€' };
    const argv = ['sh', '-c', 'env | LC_ALL=C sort; echo said >&2; exit 7'] as const;
    // At once: a stream that is read after its end has nothing left.
    const heard = async ({ child, ended }: Watched) => {
      const [out, error, end] = await Promise.all([text(child.stdout!), text(child.stderr!), ended]);
      return { out, error, end };
    };
    const below = await heard(start(argv, folder, { variables }));
    expect(below).toEqual(await heard(start(argv, folder, { variables, by: null })));
    expect(below).toMatchObject({ error: 'said\n', end: { kind: 'exited', code: 7 } });
    expect(below.out).toContain(`${name}=${value}\n`);
    expect(wordsInNow(folder, 'loaded')).toBeUndefined();
  });

  // promise: no-process-left
  test.runIf(hasReaper)('is killed by a reaper that fails after the start', async () => {
    const folder = newFolder();
    const [closes, fails] =
      kind === 'perl' ? ['close($write);', 'die;'] : ['os.close(write)', 'raise OSError'];
    const by = changed(reaper!, closes, fails);
    const watched = start(['sh', '-c', 'echo $$ > left; exec sleep 707'], folder, { by });
    await expect(watched.started).rejects.toMatchObject({ code: 'EIO' });
    const pid = wordsInNow(folder, 'left')?.trim();
    if (pid) await until(async () => (await identify(Number(pid))) === undefined);
  });

  test.runIf(hasReaper)('has a reaper that lives where the kernel names no children', async () => {
    const watched = start(['sleep', '708'], newFolder(), { by: changed(reaper!, '/children', '/none') });
    await watched.started;
    const first = (await identify(watched.child.pid!))!;
    await until(async () =>
      (await listProcesses()).some(({ pid, name }) => pid === first.pid && name === REAPER),
    );
    process.kill(first.pid, 'SIGUSR1');
    watched.signal('SIGTERM');
    expect(await watched.ended).toEqual({ kind: 'signalled', signal: 'SIGTERM' });
  });

  // promise: reaper-unnoticed
  test('that cannot be started fails with the code of the system', async () => {
    const folder = newFolder();
    const file = (name: string, content: string, mode = 0o755) => {
      writeFileSync(path.join(folder, name), content);
      chmodSync(path.join(folder, name), mode);
      return path.join(folder, name);
    };
    const missing = start(['not-there-at-all'], folder);
    await expect(missing.started).rejects.toMatchObject({ code: 'ENOENT' });
    const broken = start([file('no interpreter', '#!/nowhere/sh\n')], folder);
    await expect(broken.started).rejects.toMatchObject({ code: 'ENOENT' });
    // Without a first line it is one for the shell.
    expect(await start([file('script', 'exit 5\n')], folder).ended).toEqual({ kind: 'exited', code: 5 });
  });

  // promise: reaper-unnoticed
  test('is signalled alone and once', async () => {
    const folder = newFolder();
    const watched = shell(
      `trap 'echo x >> said; exit 3' TERM; : > ready; while :; do sleep 0.01; done`,
      folder,
    );
    await until(() => wordsInNow(folder, 'ready') !== undefined);
    watched.signal('SIGTERM');
    expect(await watched.ended).toEqual({ kind: 'exited', code: 3 });
    expect(wordsInNow(folder, 'said')).toBe('x\n');
    watched.signal('SIGTERM');
  });

  // promise: no-process-left
  test.runIf(hasReaper)('has an end that is told while others still hold on', async () => {
    const folder = newFolder();
    const watched = shell(
      `(setsid env -i /bin/sh -c 'echo $$ > left; exec sleep 701' > /dev/null 2>&1 &)
      until test -s left; do sleep 0.01; done`,
      folder,
    );
    // Its output ends with it, although the reaper stays.
    await text(watched.child.stdout!);
    expect(await watched.ended).toEqual({ kind: 'exited', code: 0 });
    const [pid = ''] = await wordsIn(path.join(folder, 'left'), 1);
    const left = (await identify(Number(pid)))!;
    const { parent } = (await listProcesses()).find((one) => one.pid === left.pid)!;
    expect(parent).toBe(watched.child.pid);
    const first = (await identify(watched.child.pid!))!;
    const { ended, remaining } = await end(watched);
    expect({ ended, remaining }).toEqual({
      ended: expect.arrayContaining([left, first]) as unknown,
      remaining: [],
    });
    expect(await isAlive(left)).toBe(false);
  });

  // promise: no-process-left
  test.runIf(hasReaper)('that replaces itself faster than it can be read is ended', async () => {
    const folder = newFolder();
    // Each process starts the next, in a session of its own, and ends.
    const hop = `use POSIX ("setsid", "_exit"); $t = time; while (time - $t < 60) { _exit(0) if fork; setsid(); next if ++$n % 40; open F, ">>hops"; print F "."; close F; }`;
    const watched = shell(
      `env -i /usr/bin/perl -e '${hop}' & until test -s hops; do sleep 0.01; done`,
      folder,
    );
    await watched.ended;
    expect(await end(watched)).toMatchObject({ remaining: [] });
    const hops = wordsInNow(folder, 'hops')?.length;
    expect((await listProcesses()).filter(({ parent }) => parent === watched.child.pid)).toEqual([]);
    // One that lives adds to it within a few milliseconds.
    await new Promise((resolve) => void setTimeout(resolve, 150));
    expect(wordsInNow(folder, 'hops')?.length).toBe(hops);
  });

  // promise: no-process-left
  test.runIf(hasReaper)('cannot hide below the name of a reaper', async () => {
    const folder = newFolder();
    const pose = `$0 = "${REAPER}"; $SIG{$_} = "IGNORE" for qw(TERM USR1); open F, ">ready"; print F $$; close F; sleep 702`;
    const watched = shell(`setsid perl -e '${pose}' & exec sleep 703`, folder);
    await wordsIn(path.join(folder, 'ready'), 1);
    expect(await end(watched)).toMatchObject({ remaining: [] });
  });

  test.runIf(hasReaper)('ends a reaper that was stopped', async () => {
    const watched = shell('exec sleep 704');
    await watched.started;
    process.kill(watched.child.pid!, 'SIGSTOP');
    expect(await end(watched)).toMatchObject({ remaining: [] });
  });

  // promise: no-process-left
  test.runIf(hasReaper)('that kills the reaper is noticed, and still found by its mark', async () => {
    const folder = newFolder();
    const mark = `COPSE_TEST=${process.pid}-${kind}`;
    const watched = shell(
      `export ${mark}; kill -KILL $PPID; echo $$ > left; exec sh -c 'sleep 705; :'`,
      folder,
    );
    expect(await watched.ended).toMatchObject({
      kind: 'vanished',
      why: expect.stringContaining('was killed') as string,
    });
    const [pid = ''] = await wordsIn(path.join(folder, 'left'), 1);
    await until(() => readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark));
    const { ended, remaining } = await endMarked(mark, [], { graceMs: 0 });
    expect(remaining).toEqual([]);
    expect(ended.map((one) => one.pid)).toContain(Number(pid));
  });

  test.runIf(hasReaper)(
    'has a reaper that keeps the mark in its environment, and little memory',
    async () => {
      const watched = shell('exec sleep 706');
      const pid = (await watched.started) && watched.child.pid!;
      await until(async () => (await listProcesses()).some((one) => one.pid === pid && one.name === REAPER));
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')).toContain('MARK=a\nb');
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      expect(Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1])).toBeLessThan(8_000);
    },
  );
});

// promise: no-process-left
test.runIf(process.platform === 'linux' && perl() !== undefined)(
  'a program with the name of a reaper that forks without pause is ended with all its children',
  async () => {
    const folder = newFolder();
    const seconds = String(5_000_000 + process.pid);
    const pose = `$0 = "${REAPER}"; $SIG{$_} = "IGNORE" for qw(TERM USR1 CHLD); open F, ">ready"; print F $$; close F;
      for (1 .. 2000) { exec("sleep", "${seconds}") unless fork; select(undef, undef, undef, 0.03) }`;
    const stdio = ['ignore', 'ignore', 'ignore'] as const;
    const argv = ['perl', '-e', pose] as const;
    const watched = startWatched({ argv, folder, environment, stdio, reaper: null });
    started.push(watched);
    await wordsIn(path.join(folder, 'ready'), 1);
    try {
      const first = (await identify(watched.child.pid!))!;
      expect(await endProcesses([first], { graceMs: 0 })).toMatchObject({ remaining: [] });
      expect(await isAlive(first)).toBe(false);
      expect(running(seconds)).toEqual([]);
    } finally {
      watched.child.kill('SIGKILL');
      for (const pid of running(seconds)) process.kill(pid, 'SIGKILL');
    }
  },
);

/** The same with another text in its script. */
function changed({ kind, argv: [file, ...args] }: Reaper, from: string, to: string): Reaper {
  expect(args.join(' ')).toContain(from);
  return { kind, argv: [file, ...args.map((one) => one.replace(from, to))] };
}

function wordsInNow(folder: string, file: string): string | undefined {
  try {
    return readFileSync(path.join(folder, file), 'utf8');
  } catch {
    return undefined;
  }
}
