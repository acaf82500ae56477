/**
 * A small process between Copse and every program that it starts, on Linux: the reaper. It asks the kernel to become the
 * parent of all orphans below it (PR_SET_CHILD_SUBREAPER). So whatever a process does to its environment, its session and its
 * parents, a chain of parents leads from it to the reaper, and /proc tells parents of all processes (end.ts).
 *
 *   starts the program → tells its pid → waits for its children → tells how the program ended → ends when no child is left
 *
 * It tells through descriptor 3, which the program does not get: `started <pid>`, `error <errno>`, `ended <wait status>`.
 * It ignores signals by which terminals and people end programs: its program gets them, and it must outlive them all.
 * SIGUSR1 makes it kill its children, again and again: the only way to end processes that replace themselves faster than
 * another process can read their pids.
 *
 * It runs outside of a program's sandbox, so the person's variables must not rule it: Python is started with -I, and the
 * variables of Perl reach only the program (`reaperEnvironment`). It loads no module of Perl.
 *
 * Node.js cannot ask the kernel for this. Perl can and is a part of Debian; Python is the second choice. Both are started from
 * the folders of the system only: a repository cannot bring its own.
 */

import { existsSync } from 'node:fs';

/** The name that the kernel keeps for a reaper. */
export const REAPER = 'copse-reaper';

/** Its last argument before those of the program is the file of a control group to join, or empty. */
export interface Reaper {
  readonly kind: 'perl' | 'python3';
  readonly argv: readonly [string, ...string[]];
}

let found: Reaper | null | undefined;

/** Null where programs are started without one. */
export function reaperHere(): Reaper | null {
  found ??= process.platform === 'linux' ? (perl() ?? python() ?? null) : null;
  return found;
}

const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin'];

function programOf(name: string): string | undefined {
  return FOLDERS.map((folder) => `${folder}/${name}`).find((file) => existsSync(file));
}

/** The number of the system call `prctl`, which Perl has no name for. */
const PRCTL: Partial<Record<NodeJS.Architecture, number>> = {
  x64: 157,
  arm64: 167,
  riscv64: 167,
  loong64: 167,
  arm: 172,
  ia32: 172,
  s390x: 172,
  ppc64: 171,
};

export function perl(): Reaper | undefined {
  const file = programOf('perl');
  const call = PRCTL[process.arch];
  if (file === undefined || call === undefined) return undefined;
  return { kind: 'perl', argv: [file, '-f', '-e', PERL, '--', String(call)] };
}

export function python(): Reaper | undefined {
  const file = programOf('python3');
  // -I -S: without variables and packages of the person.
  return file === undefined ? undefined : { kind: 'python3', argv: [file, '-I', '-S', '-c', PYTHON] };
}

/**
 * Variables that Perl obeys (PERL5OPT, PERL5LIB, PERL_UNICODE …) travel under another name, and the reaper renames them for the
 * program. PERL_BADLANG: Perl prints no warning about a locale that the machine does not have.
 */
export function reaperEnvironment(
  { kind }: Reaper,
  environment: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (kind !== 'perl') return environment;
  const renamed = Object.entries(environment).map(([name, value]) => [
    name.startsWith('PERL') ? `${RENAMED}${name}` : name,
    value,
  ]);
  return { ...(Object.fromEntries(renamed) as Record<string, string>), PERL_BADLANG: '0' };
}

const RENAMED = 'COPSE_RENAMED_';

// 36: PR_SET_CHILD_SUBREAPER. 15: PR_SET_NAME; setting $0 instead would overwrite the mark in its environment.
// 2, 1: F_SETFD, FD_CLOEXEC. 5: EIO. 10: ECHILD. Modules would take longer to load than all of it to run.
const PERL = String.raw`
my ($call, $group, @argv) = @ARGV;
open(my $tell, '>&=', 3) or exit 125;
fcntl($tell, 2, 1);
if ($group ne '' && open(my $file, '>', $group)) { syswrite($file, $$); close($file) }
syscall($call + 0, 36, 1, 0, 0, 0);
my @quiet = qw(HUP INT QUIT TERM PIPE);
my $sweeps = 0;
$SIG{$_} = 'IGNORE' for @quiet;
$SIG{USR1} = sub { $sweeps = 1 };
pipe(my $read, my $write);
binmode($_) for $tell, $read, $write;
my $pid = fork;
if (defined $pid && $pid == 0) {
  $SIG{$_} = 'DEFAULT' for @quiet, 'USR1';
  delete $ENV{PERL_BADLANG};
  for (keys %ENV) { $ENV{$1} = delete $ENV{$_} if /^${RENAMED}(PERL.*)$/s }
  exec { $argv[0] } @argv;
  syswrite($write, $! + 0);
  exit 127;
}
my $failed = defined $pid ? '' : $! + 0;
$SIG{__DIE__} = sub { kill('KILL', $pid) if $pid; syswrite($tell, "error 5\n"); exit 127 };
close($write);
sysread($read, $failed, 16) if defined $pid;
if ($failed ne '') { waitpid($pid, 0) if defined $pid; syswrite($tell, "error $failed\n"); exit 127 }
close($read);
syswrite($tell, "started $pid\n");
my $name = '${REAPER}';
syscall($call + 0, 15, $name, 0, 0, 0);
chdir('/');
open(STDIN, '<', '/dev/null');
open(STDOUT, '>', '/dev/null');
open(STDERR, '>', '/dev/null');
sub ended { my ($one, $status) = @_; if ($one == $pid) { syswrite($tell, "ended $status\n"); close($tell); $pid = 0 } }
while (1) {
  if ($sweeps) {
    $sweeps = 0;
    my $until = time + 5;
    for (my $look = 0; time <= $until; $look++) {
      open(my $file, '<', "/proc/self/task/$$/children") or last;
      my @below = split(' ', <$file> // '');
      close($file);
      kill('KILL', @below);
      my $one;
      while (($one = waitpid(-1, 1)) > 0) { ended($one, $?) }
      last if $one == -1;
      select(undef, undef, undef, 0.005) if $look > 2000;
    }
  }
  my $one = wait;
  if ($one > 0) { ended($one, $?) }
  elsif ($! + 0 == 10) { exit 0 }
}
`;

const PYTHON = String.raw`
import ctypes, fcntl, os, signal, sys, time
group, argv = sys.argv[1], sys.argv[2:]
fcntl.fcntl(3, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
def tell(text):
    try: os.write(3, (text + '\n').encode())
    except OSError: pass
try:
    if group != '':
        with open(group, 'w') as file: file.write(str(os.getpid()))
except OSError: pass
prctl = ctypes.CDLL(None, use_errno=True).prctl
prctl(36, 1, 0, 0, 0)
quiet = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM]
awaited = [signal.SIGCHLD, signal.SIGUSR1]
for one in quiet: signal.signal(one, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
read, write = os.pipe()
try: pid = os.fork()
except OSError as error:
    tell('error %d' % error.errno)
    sys.exit(127)
if pid == 0:
    for one in quiet + [signal.SIGPIPE, signal.SIGXFSZ]: signal.signal(one, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
    # Python itself adds a variable.
    with open('/proc/self/environ', 'rb') as file: lines = file.read().split(b'\0')
    environ = dict(line.split(b'=', 1) for line in lines if b'=' in line)
    try: os.execvpe(argv[0], argv, environ)
    except OSError as error:
        try:
            if error.errno == 8: os.execve('/bin/sh', ['/bin/sh'] + argv, environ)
        except OSError: pass
        os.write(write, str(error.errno).encode())
    os._exit(127)
def fail(*_):
    if pid != 0: os.kill(pid, signal.SIGKILL)
    tell('error 5')
    os._exit(127)
sys.excepthook = fail
os.close(write)
failed = os.read(read, 16)
if failed != b'':
    os.waitpid(pid, 0)
    tell('error ' + failed.decode())
    os._exit(127)
os.close(read)
tell('started %d' % pid)
prctl(15, b'${REAPER}', 0, 0, 0)
os.chdir('/')
null = os.open('/dev/null', os.O_RDWR)
for one in (0, 1, 2): os.dup2(null, one)
os.close(null)
def ended(one, status):
    global pid
    if one == pid:
        tell('ended %d' % status)
        os.close(3)
        pid = 0
def sweep():
    until = time.monotonic() + 5
    look = 0
    while time.monotonic() < until:
        look += 1
        try:
            with open('/proc/self/task/%d/children' % os.getpid()) as file: below = file.read().split()
        except OSError: return
        for one in below:
            try: os.kill(int(one), signal.SIGKILL)
            except OSError: pass
        while reap(): pass
        if look > 2000: time.sleep(0.005)
def reap():
    one, status = os.waitpid(-1, os.WNOHANG)
    if one > 0: ended(one, status)
    return one > 0
try:
    while True:
        while reap(): pass
        if signal.sigwait(awaited) == signal.SIGUSR1: sweep()
except ChildProcessError: os._exit(0)
`;
