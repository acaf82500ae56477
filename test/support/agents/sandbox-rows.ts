/**
 * The table of what a program in a sandbox tries, as lines for the shell: one row for each act, one column for each place
 * in which Copse runs what an agent wrote.
 *
 *   no       fails inside and succeeds outside, so that a line which fails for a reason of its own is noticed
 *   masked   succeeds inside, in an empty folder that hides the real one, and changes nothing outside
 *   yes      succeeds: the work of an agent
 *   -        has no meaning there
 */

import { ownGroup } from '../../../packages/copse/src/processes/cgroup.ts';

export type Column = 'attempt' | 'check' | 'teardown';
export type Verdict = 'no' | 'masked' | 'yes' | '-';

interface Row extends Readonly<Record<Column, Verdict>> {
  readonly of: string;
  readonly does: string;
  readonly line: string;
}

type Acts = Readonly<Record<string, string>>;

/** The same in all columns, unless said otherwise. */
function rows(
  of: string,
  acts: Acts,
  verdict: Verdict,
  { attempt = verdict, check = verdict, teardown = verdict }: Partial<Record<Column, Verdict>> = {},
): readonly Row[] {
  return Object.entries(acts).map(([does, line]) => ({ of, does, line, attempt, check, teardown }));
}

const TABLE: readonly Row[] = [
  ...rows(
    'main checkout',
    {
      'write a new file into the main checkout': 'echo x > "$MAIN/intruder.txt"',
      'change a file of the main checkout': 'echo x >> "$MAIN/tracked.txt"',
    },
    'no',
  ),
  ...rows(
    'home',
    {
      'write into the home folder': ': > "$HOME/intruder"',
      'write where all programs write temporary files': ': > "$SHARED/intruder"',
    },
    'no',
  ),
  ...rows(
    'keys',
    {
      'read the keys for ssh': 'cat "$HOME/.ssh/id_ed25519"',
      'read the passwords of git': 'cat "$HOME/.git-credentials"',
      'read the tokens of npm': 'cat "$HOME/.npmrc"',
      'read another agent’s login': 'cat "$HOME/.codex/auth.json"',
      'read a password in the settings of git': 'grep hidden-token "$COMMON/config"',
    },
    'no',
  ),
  ...rows(
    'board',
    {
      'read the board': 'head -c 16 "$MAIN/.copse/board.db"',
      'read the orders of an attempt': 'cat "$MAIN/.copse/attempts/"*.json',
      'read the logs of others': 'ls "$MAIN/.copse/logs"',
      'exchange the copse that agents call': ': >> "$MAIN/.copse/bin/copse"',
    },
    'no',
  ),
  ...rows(
    'other worktrees',
    {
      'read another worktree': 'cat "$OTHER/secret.txt"',
      'read a worktree beside its own': 'cat "$MAIN/.worktrees/beside/secret.txt"',
      'read the token of a server': 'cat "$HOME/.cache/copse-serve/127.0.0.1-4747.header"',
      'read a checkout in which a teardown runs': 'cat "$HOME/.cache/copse-teardown/other/secret.txt"',
      'unlock its worktree': 'cp "$OWN/locked" x; rm "$OWN/locked"; mv x "$OWN/locked"',
      'write what git keeps about another worktree': 'echo x > "$COMMON/worktrees/other/intruder"',
    },
    'no',
  ),
  ...rows(
    'refs',
    {
      'move the branch of another task': 'git update-ref refs/heads/cp-other/work HEAD',
      'make a branch outside of its own folder': 'git branch intruder',
      'move the target': 'git update-ref refs/heads/main HEAD',
      'write the target’s ref by hand': 'git rev-parse HEAD > "$COMMON/refs/heads/main"',
      'rewrite the packed refs': 'cp "$COMMON/packed-refs" x && cp x "$COMMON/packed-refs"; rm -f x',
      'lock the packed refs': ': > "$COMMON/packed-refs.lock"; rm "$COMMON/packed-refs.lock"',
      'make a tag': 'git tag intruder',
      'stash for everybody': 'git update-ref refs/stash HEAD',
    },
    'no',
  ),
  ...rows(
    'refs',
    {
      'exchange the folder of its branches':
        'mv "$COMMON/refs/heads/$COPSE_TASK_ID" x; mv x "$COMMON/refs/heads/$COPSE_TASK_ID"',
    },
    'no',
    { check: '-' },
  ),
  ...rows(
    'HEAD',
    {
      'move HEAD of the main checkout': 'cp "$COMMON/HEAD" x; cp x "$COMMON/HEAD"; rm x',
      'make its worktree belong elsewhere': 'cp .git x; mv x .git',
      'make git look for the repository elsewhere': 'cp "$OWN/commondir" x; mv x "$OWN/commondir"',
    },
    'no',
  ),
  ...rows(
    'hooks',
    {
      'change the repository’s configuration': 'git config --local copse.intruder yes',
      'put a hook into the repository': 'echo "exit 0" > "$COMMON/hooks/post-commit"',
      'configure its own worktree': 'echo "[a]" > "$OWN/config.worktree"',
    },
    'no',
  ),
  ...rows(
    'objects',
    {
      'add a pack': 'echo x > "$COMMON/objects/pack/intruder"',
      'delete packs': 'rm "$COMMON/objects/pack/"*.idx.copy',
      'name another object store': ': > "$COMMON/objects/info/alternates"',
    },
    'no',
  ),
  ...rows(
    'loose objects',
    {
      'delete an object of main that is not packed':
        'f="$COMMON/objects/$(git rev-parse main:loose.txt | sed "s,^..,&/,")"; cp "$f" x; rm -f "$f"; mv x "$f"',
    },
    'no',
  ),
  ...rows(
    'network',
    {
      'reach another address': '"$NODE" -e "$CONNECT" "$ELSEWHERE" 127.0.0.2',
      'reach another address through the proxy':
        'NODE_USE_ENV_PROXY=1 "$NODE" -e "$FETCH" "http://127.0.0.2:$ELSEWHERE/"',
      'send a datagram': '"$NODE" -e "$SEND" "$DATAGRAMS"',
    },
    'no',
  ),
  ...rows(
    'loopback ports',
    {
      'reach a server of this machine': '"$NODE" -e "$CONNECT" "$DATABASE"',
      'reach it through the proxy': 'NODE_USE_ENV_PROXY=1 "$NODE" -e "$FETCH" "http://127.0.0.1:$DATABASE/"',
    },
    'no',
  ),
  ...rows(
    'Unix sockets',
    {
      'type into the terminals of tmux': 'tmux -S "$SOCKETS/tmux" list-sessions',
      'use the keys of an agent for ssh': 'SSH_AUTH_SOCK="$SOCKETS/ssh-agent" ssh-add -l || test $? = 1',
      'start a container': '"$NODE" -e "$CONNECT" "$SOCKETS/docker.sock"',
      'call programs through D-Bus': '"$NODE" -e "$CONNECT" "$SOCKETS/bus"',
      'reach PostgreSQL by its socket': '"$NODE" -e "$CONNECT" "$SOCKETS/.s.PGSQL.5432"',
      'reach a socket without a file': '"$NODE" -e "$CONNECT" "@$SOCKETS"',
    },
    'no',
  ),
  ...rows(
    'processes',
    {
      'signal a process outside': 'kill -0 "$WITNESS"',
      'see a process outside': 'test -e "/proc/$WITNESS/status"',
    },
    'no',
  ),
  // What an agent needs, and a check and a teardown do not.
  ...rows(
    'HEAD',
    {
      'write its own HEAD': 'cp "$OWN/HEAD" x; cp x "$OWN/HEAD"; rm x',
    },
    'yes',
    { check: 'no' },
  ),
  ...rows(
    'other worktrees',
    {
      'write where another worktree is': 'echo x > "$OTHER/intruder.txt"',
    },
    'masked',
  ),
  ...rows(
    'board',
    {
      'write where the board is': 'echo x >> "$MAIN/.copse/board.db"',
      'put a file where the board is': ': > "$MAIN/.copse/intruder"',
    },
    'masked',
  ),
  ...rows(
    'board',
    {
      'write where orders are': ': > "$MAIN/.copse/attempts/intruder"',
    },
    'masked',
    // It sees no folder there.
    { check: 'no' },
  ),
  ...rows(
    'keys',
    {
      'write where keys are': 'echo x > "$HOME/.ssh/authorized_keys"',
    },
    'masked',
  ),
  ...rows(
    'own work',
    {
      'read the main checkout': 'test "$(head -n 1 "$MAIN/tracked.txt")" = tracked',
      'write files of any name':
        'mkdir -p .vscode .idea; echo x | tee a.txt .bashrc .gitmodules.txt .mcp.json .vscode/x .idea/x',
      'write temporary files': 'echo x > "$(mktemp)"',
    },
    'yes',
  ),
  ...rows(
    'own work',
    {
      'commit all of them':
        'git add --all; git commit --quiet --allow-empty --message="feat: work of an agent"; test -z "$(git status --porcelain)"',
      'make a branch beside its own': 'git branch --force "$COPSE_TASK_ID/second"',
      'amend and rebase': 'git commit --quiet --amend --no-edit --allow-empty; git rebase --quiet main',
    },
    'yes',
    { check: '-', teardown: '-' },
  ),
  ...rows(
    'own work',
    {
      'reach the host that a person allowed':
        'NODE_USE_ENV_PROXY=1 "$NODE" -e "$FETCH" "http://127.0.0.1:$MODEL/"',
    },
    'yes',
    { check: 'no' },
  ),
];

/** Where this user can make control groups. */
const GROUPS = rows(
  'processes',
  { 'move to another control group': 'sh -c \'echo $$ > "$GROUP/cgroup.procs"\'' },
  ownGroup() === undefined ? '-' : 'no',
);

export function rowsOf(column: Column, verdict: Verdict): readonly Row[] {
  return [...TABLE, ...GROUPS].filter((row) => row[column] === verdict);
}

export const CONNECT = `const [to, host = '127.0.0.1'] = process.argv.slice(1); const s = require('net').connect(/^\\d+$/.test(to) ? { port: Number(to), host } : { path: to.replace(/^@/, '\\0') }); s.on('connect', () => process.exit(0)); s.on('error', () => process.exit(1));`;
export const FETCH = `fetch(process.argv[1]).then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1));`;
export const SEND = `const s = require('dgram').createSocket('udp4'); s.on('message', () => process.exit(0)).on('error', () => process.exit(1)); s.send('x', Number(process.argv[1]), '127.0.0.1'); setTimeout(() => process.exit(1), 2000);`;
