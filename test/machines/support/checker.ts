/**
 * Judges a run of several machines by the board's export and plain git alone. It shares no code with the product, so that an
 * error in the product's own reading cannot hide itself.
 *
 *   numbers        events are numbered from 1 without a gap, and the export has all of them
 *   claims         one claim for each token of a task, and one attempt for each claim
 *   tokens         the tokens of a task only grow
 *   fenced         a session records nothing with a token below the task's highest
 *   landed-once    a task lands at most once, and no change is on the target twice
 *   landed-there   what the board calls landed is on the target of the remote
 *   acknowledged   each task that a command acknowledged is on the board
 *   reachable      finished heads, and commits and files of snapshots, are reachable from a ref or on the target
 *   fast-forward   the target of the remote moved only from an ancestor to its descendant
 *   followed       a follower saw each event of the board once, in order
 */

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { runGit } from '../../support/git/git-shell.ts';

export interface Evidence {
  /** The text that `copse export` printed. */
  readonly exported: string;
  /** A bare repository that keeps reflogs (core.logAllRefUpdates). */
  readonly remote: string;
  /** The machines that are left. */
  readonly clones: readonly string[];
  readonly target: string;
  readonly acknowledged: readonly string[];
  /** Commits that agents say they made on the machines that are left. */
  readonly committed?: readonly string[];
  /** Numbers of events as a follower from the first event on printed them. */
  readonly followed?: readonly number[];
}

interface Event {
  readonly type: string;
  readonly id: string;
  readonly [field: string]: unknown;
}

interface Recorded {
  readonly number: number;
  readonly by: { readonly kind: string; readonly session?: string; readonly token?: number };
  readonly event: Event;
}

interface Line {
  readonly line: string;
  readonly events?: number;
  readonly kind?: string;
  readonly record?: { readonly id: string };
  readonly recorded?: Recorded;
}

interface Grant {
  readonly claim: { readonly token: number; readonly attempt: string };
}

/** Sentences that begin with the name of the broken rule; none when all is well. */
export function violations(evidence: Evidence): readonly string[] {
  const lines = linesOf(evidence.exported);
  const events = eventsOf(lines);
  return [
    ...numbers(lines, events),
    ...claims(events),
    ...fenced(events),
    ...landedOnce(events, evidence),
    ...acknowledged(lines, events, evidence),
    ...reachable(events, evidence),
    ...fastForward(evidence),
    ...followed(events, evidence),
  ];
}

/** How much there was to judge: a checker that reads the wrong fields would find nothing wrong either. */
export function seenBy({
  exported,
}: Pick<Evidence, 'exported'>): Readonly<Record<'claims' | 'landed' | 'snapshots', number>> {
  const events = eventsOf(linesOf(exported)).map(({ event }) => event);
  return {
    claims: events.filter((event) => grantOf(event) !== undefined).length,
    landed: events.filter(({ type }) => type === 'landing.landed').length,
    snapshots: events.filter(({ type }) => type === 'attempt.snapshotted').length,
  };
}

function linesOf(exported: string): readonly Line[] {
  return exported
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}

function eventsOf(lines: readonly Line[]): readonly Recorded[] {
  return lines.flatMap(({ recorded }) => (recorded === undefined ? [] : [recorded]));
}

function numbers(lines: readonly Line[], events: readonly Recorded[]): readonly string[] {
  const said = lines.find(({ line }) => line === 'board')?.events;
  const wrong = events.findIndex(({ number }, index) => number !== index + 1);
  return [
    ...(said === events.length
      ? []
      : [`numbers: the board says ${said} events, the export has ${events.length}`]),
    ...(wrong === -1 ? [] : [`numbers: event ${wrong + 1} has number ${events[wrong]?.number}`]),
  ];
}

/** Claims come as the event itself or as its `grant`. */
function grantOf(event: Event): Grant | undefined {
  if (event.type === 'task.claimed' || event.type === 'task.resumed') return event as unknown as Grant;
  return (event['grant'] as Grant | null | undefined) ?? undefined;
}

function claims(events: readonly Recorded[]): readonly string[] {
  const found: string[] = [];
  const highest = new Map<string, number>();
  const given = new Set<string>();
  const attempts = new Map<string, string>();
  for (const { number, event } of events) {
    const token = grantOf(event)?.claim.token;
    if (token !== undefined) {
      const key = `${event.id} ${token}`;
      if (given.has(key)) found.push(`claims: event ${number} gives token ${token} of ${event.id} out again`);
      else if (token <= (highest.get(event.id) ?? 0))
        found.push(
          `tokens: event ${number} gives token ${token} of ${event.id} after ${highest.get(event.id)}`,
        );
      given.add(key);
      highest.set(event.id, Math.max(token, highest.get(event.id) ?? 0));
    }
    if (event.type !== 'attempt.started') continue;
    const key = `${String(event['task'])} ${String(event['token'])}`;
    if (attempts.has(key)) found.push(`claims: ${attempts.get(key)} and ${event.id} are attempts of ${key}`);
    attempts.set(key, event.id);
  }
  return found;
}

function fenced(events: readonly Recorded[]): readonly string[] {
  const highest = new Map<string, number>();
  const taskOf = new Map<unknown, string>();
  return events.flatMap(({ number, by, event }) => {
    const task = by.kind === 'session' ? taskOf.get(by.session) : undefined;
    const isOld = task !== undefined && (by.token ?? 0) < (highest.get(task) ?? 0);
    const token = grantOf(event)?.claim.token;
    if (token !== undefined) highest.set(event.id, token);
    if (event.type === 'attempt.started') taskOf.set(event['session'], String(event['task']));
    return isOld ? [`fenced: event ${number} (${event.type}) of ${task} has the old token ${by.token}`] : [];
  });
}

function landedOnce(events: readonly Recorded[], { remote, target }: Evidence): readonly string[] {
  const found: string[] = [];
  const tasks = new Map<string, string>();
  const landed = new Set<string>();
  const onTarget = new Set(git(remote, ['rev-list', target]).split('\n'));
  for (const { event } of events) {
    if (event.type === 'landing.queued') tasks.set(event.id, String(event['task']));
    if (event.type !== 'landing.landed') continue;
    const task = tasks.get(event.id) ?? event.id;
    const commit = String(event['commit']);
    if (landed.has(task)) found.push(`landed-once: the board says that ${task} landed again, as ${commit}`);
    landed.add(task);
    if (!onTarget.has(commit)) found.push(`landed-there: ${commit} of ${task} is not on ${target}`);
  }
  const seen = new Map<string, string>();
  for (const [patch, commit] of patchesOf(remote, [target])) {
    if (seen.has(patch))
      found.push(`landed-once: ${commit} repeats the change of ${seen.get(patch)} on ${target}`);
    seen.set(patch, commit);
  }
  return found;
}

function acknowledged(
  lines: readonly Line[],
  events: readonly Recorded[],
  evidence: Evidence,
): readonly string[] {
  const there = new Set([
    ...lines.flatMap(({ kind, record }) => (kind === 'task' && record ? [record.id] : [])),
    ...events.flatMap(({ event }) => (event.type === 'task.deleted' ? [event.id] : [])),
  ]);
  return evidence.acknowledged
    .filter((id) => !there.has(id))
    .map((id) => `acknowledged: ${id} was acknowledged and is not on the board`);
}

/**
 * A head is safe behind a ref of any repository, or when the target has each of its changes. The uncommitted files of an
 * attempt's last snapshot are safe when a reachable tree has their content.
 */
function reachable(events: readonly Recorded[], evidence: Evidence): readonly string[] {
  const { remote, clones, target, committed = [] } = evidence;
  const repositories = [remote, ...clones];
  const objects = new Set(
    repositories.flatMap((repository) =>
      git(repository, ['rev-list', '--objects', '--no-object-names', '--all']).split('\n'),
    ),
  );
  const landed = new Set(patchesOf(remote, [target]).map(([patch]) => patch));
  const holderOf = (commit: string) =>
    repositories.find(
      (repository) => tryGit(repository, ['cat-file', '-e', `${commit}^{commit}`]) !== undefined,
    );
  const isSafe = (commit: string): boolean => {
    if (objects.has(commit)) return true;
    const holder = holderOf(commit);
    if (holder === undefined) return false;
    const missing = git(holder, ['rev-list', '--no-merges', commit])
      .split('\n')
      .filter((one) => !objects.has(one));
    const patches = patchesOf(holder, ['--no-walk', ...missing]);
    return patches.every(([patch]) => landed.has(patch));
  };
  const heads = new Map<string, string>(committed.map((commit) => [commit, 'made by an agent']));
  const last = new Map<string, { readonly commit: string; readonly head: string }>();
  for (const { event } of events) {
    const head = event['head'];
    if (typeof head === 'string') heads.set(head, `${event.type} of ${event.id}`);
    if (event.type === 'attempt.snapshotted')
      last.set(event.id, { commit: String(event['commit']), head: String(head) });
  }
  return [
    ...[...heads]
      .filter(([head]) => !isSafe(head))
      .map(
        ([head, where]) => `reachable: no ref leads to ${head} (${where}), and ${target} lacks its changes`,
      ),
    ...[...last].flatMap(([attempt, { commit, head }]) => {
      if (objects.has(commit)) return [];
      const holder = holderOf(commit);
      if (holder === undefined) return [`reachable: the snapshot ${commit} of ${attempt} is gone`];
      return filesBetween(holder, head, commit)
        .filter(({ blob }) => !objects.has(blob))
        .map(
          ({ file }) => `reachable: ${file} of the last snapshot ${commit} of ${attempt} is behind no ref`,
        );
    }),
  ];
}

function fastForward({ remote, target }: Evidence): readonly string[] {
  const file = path.join(remote, 'logs', 'refs', 'heads', target);
  // Git begins the reflog with the first move; what the board calls landed is missing then.
  if (!existsSync(file)) return [];
  const moves = readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' ', 2) as [string, string]);
  const tip = git(remote, ['rev-parse', target]);
  return [
    ...moves.flatMap(([from, to], index) => {
      const before = moves[index - 1]?.[1];
      if (before !== undefined && before !== from)
        return [`fast-forward: ${target} was at ${before} and moved from ${from}`];
      const isForward =
        /^0+$/.test(from) || tryGit(remote, ['merge-base', '--is-ancestor', from, to]) !== undefined;
      return isForward
        ? []
        : [`fast-forward: ${target} moved from ${from} to ${to}, which does not contain it`];
    }),
    ...(moves.at(-1)?.[1] === tip
      ? []
      : [`fast-forward: ${target} is at ${tip}, which its reflog does not have last`]),
  ];
}

function followed(events: readonly Recorded[], { followed: seen }: Evidence): readonly string[] {
  if (seen === undefined) return [];
  const all = events.map(({ number }) => number);
  const wrong = seen.findIndex((number, index) => number !== all[index]);
  if (wrong !== -1)
    return [
      `followed: after event ${seen[wrong - 1] ?? 0} the follower saw ${seen[wrong]}, not ${all[wrong]}`,
    ];
  if (seen.length === all.length) return [];
  return [`followed: the follower saw events up to ${seen.at(-1) ?? 0}, and the board has ${all.at(-1)}`];
}

/** Pairs of patch id and commit, without commits that change nothing and without merges. */
function patchesOf(repository: string, revisions: readonly string[]): readonly (readonly [string, string])[] {
  if (revisions.length === 1 && revisions[0] === '--no-walk') return [];
  const log = git(repository, [
    'log',
    '--patch',
    '--no-merges',
    '--no-ext-diff',
    '--no-textconv',
    ...revisions,
  ]);
  return git(repository, ['patch-id', '--stable'], log)
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' ', 2) as [string, string]);
}

function filesBetween(
  repository: string,
  from: string,
  to: string,
): readonly { readonly file: string; readonly blob: string }[] {
  const words = git(repository, ['diff-tree', '-r', '-z', '--no-renames', from, to]).split('\0');
  return words.flatMap((word, index) => {
    const blob = word.startsWith(':') ? word.split(' ')[3] : undefined;
    const isFile = blob !== undefined && !/^0+$/.test(blob);
    return isFile ? [{ file: words[index + 1] ?? '', blob }] : [];
  });
}

function git(repository: string, argv: readonly string[], input?: string): string {
  const found = tryGit(repository, argv, input);
  if (found === undefined) throw new Error(`git ${argv.join(' ')} failed in ${repository}`);
  return found;
}

function tryGit(repository: string, argv: readonly string[], input?: string): string | undefined {
  const { status, stdout } = runGit({ cwd: repository, argv, input });
  return status === 0 ? stdout.toString().trimEnd() : undefined;
}
