/** The checker of runs with several machines: each of its rules finds an export or a repository that breaks it. */

import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import type { BoardLine } from '../../../packages/copse/src/board/rules/board-line.ts';
import type { Author, BoardEvent } from '../../../packages/copse/src/board/rules/event.ts';
import { git, newArea } from '../../support/cli.ts';
import { runGit } from '../../support/git/git-shell.ts';
import { type Evidence, seenBy, violations } from '../support/checker.ts';

const area = newArea();

interface Scene {
  events: { by: Author; event: BoardEvent }[];
  tasks: string[];
  said: number | undefined;
  evidence: Omit<Evidence, 'exported'>;
}

/** A task that two machines worked on: the first was lost after a snapshot, the second landed it. */
const template = makeTemplate();

let scenes = 0;

function openScene(): Scene {
  scenes += 1;
  const place = path.join(area, `scene ${scenes}`);
  cpSync(template.place, place, { recursive: true });
  const { head, landed, snapshot } = template;
  const node = { kind: 'node', node: 'n-1' };
  const session = (token: number) => ({ kind: 'session', session: `s-${token}`, token });
  const claim = (token: number) => ({
    claim: { session: `s-${token}`, attempt: `a-${token}`, node: 'n-1', agent: 'worker', token },
    leaseUntil: 9,
  });
  const of = (type: string, id: string, more: object = {}) => ({ type, id, at: 1, ...more });
  const started = (token: number) =>
    of('attempt.started', `a-${token}`, { session: `s-${token}`, task: 'cp-1', node: 'n-1', token });
  const events: readonly (readonly [object, object])[] = [
    [node, of('task.created', 'cp-1', { definition: {}, status: 'ready' })],
    [node, of('task.claimed', 'cp-1', claim(1))],
    [node, started(1)],
    [session(1), of('attempt.snapshotted', 'a-1', { commit: snapshot, head, readAt: 1 })],
    [node, of('task.crashed', 'cp-1', { reason: 'lost', retries: 1, delay: null })],
    [node, of('task.claimed', 'cp-1', claim(2))],
    [node, started(2)],
    [session(2), of('landing.queued', 'l-1', { task: 'cp-1', target: 'main', attempt: 'a-2', head })],
    [node, of('landing.landed', 'l-1', { commit: landed })],
  ];
  return {
    events: events.map(([by, event]) => ({ by: by as Author, event: event as BoardEvent })),
    tasks: ['cp-1'],
    said: undefined,
    evidence: {
      remote: path.join(place, 'remote.git'),
      clones: [path.join(place, 'clone')],
      target: 'main',
      acknowledged: ['cp-1'],
      followed: [1, 2, 3, 4, 5, 6, 7, 8, 9],
    },
  };
}

function judge({ events, tasks, said, evidence }: Scene): readonly string[] {
  return violations({ ...evidence, exported: exported(events, tasks, said) });
}

function exported(events: Scene['events'], tasks: readonly string[], said = events.length): string {
  const lines = [
    { line: 'board', format: 1, version: 1, id: 'bo-1', events: said } satisfies BoardLine,
    ...tasks.map((id) => ({ line: 'record', kind: 'task', record: { id } })),
    ...events.map((one, index) => ({ line: 'event', recorded: { number: index + 1, ...one } })),
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

const event = (scene: Scene, index: number) =>
  scene.events[index]!.event as unknown as Record<string, unknown>;

/** Copies an event to the end, with changes. */
function repeat(scene: Scene, index: number, changes: object = {}): void {
  const { by, event: what } = structuredClone(scene.events[index]!);
  scene.events.push({ by, event: { ...what, ...changes } });
  scene.evidence = { ...scene.evidence, followed: scene.events.map((_, at) => at + 1) };
}

const sees = (scene: Scene, followed: readonly number[]) =>
  (scene.evidence = { ...scene.evidence, followed });

const doctored: Readonly<Record<string, readonly (readonly [string, (scene: Scene) => void])[]>> = {
  numbers: [
    [
      'an event number is missing',
      (scene) => {
        scene.events[3] = { ...scene.events[3]!, number: 5 } as never;
        sees(scene, [1, 2, 3, 5, 5, 6, 7, 8, 9]);
      },
    ],
    ['the export ends early', (scene) => (scene.said = 10)],
  ],
  claims: [
    ['a token is given out twice', (scene) => repeat(scene, 5)],
    ['two attempts have one claim', (scene) => repeat(scene, 6, { id: 'a-3' })],
  ],
  tokens: [
    [
      'a token shrinks',
      (scene) => {
        (event(scene, 5)['claim'] as { token: number }).token = 7;
        event(scene, 6)['token'] = 7;
        (scene.events[7]!.by as unknown as { token: number }).token = 7;
        repeat(scene, 5, { claim: { token: 3 } });
      },
    ],
  ],
  fenced: [['a session records with an old token', (scene) => repeat(scene, 3)]],
  'landed-once': [
    ['the board says that a task landed twice', (scene) => repeat(scene, 8)],
    [
      'a change is on the target twice',
      ({ evidence: { remote } }) => {
        const [tree, first, tip] = ['main^{tree}', 'main^^', 'main'].map((name) =>
          git(remote, 'rev-parse', name),
        );
        const back = git(remote, 'commit-tree', '-p', tip!, '-m', 'back', `${first}^{tree}`);
        const again = git(remote, 'commit-tree', '-p', back, '-m', 'again', `${template.head}^{tree}`);
        const all = git(remote, 'commit-tree', '-p', again, '-m', 'all', tree!);
        git(remote, 'update-ref', 'refs/heads/main', all);
      },
    ],
  ],
  'landed-there': [
    [
      'the target lacks what the board calls landed',
      (scene) => (event(scene, 8)['commit'] = template.snapshot),
    ],
    [
      'the target never moved, so that it has no reflog',
      ({ evidence: { remote } }) => {
        git(remote, 'update-ref', 'refs/heads/main', template.first);
        rmSync(path.join(remote, 'logs', 'refs', 'heads', 'main'));
      },
    ],
  ],
  acknowledged: [['an acknowledged task is gone', (scene) => (scene.tasks = [])]],
  reachable: [
    ['a finished head is nowhere', (scene) => (event(scene, 7)['head'] = '1'.repeat(40))],
    [
      'a finished head is behind no ref and did not land',
      (scene) => {
        const { remote } = scene.evidence;
        const tree = git(remote, 'rev-parse', `${template.snapshot}^{tree}`);
        const head = git(remote, 'commit-tree', '-p', template.head, '-m', 'more', tree);
        event(scene, 7)['head'] = git(
          remote,
          'commit-tree',
          '-p',
          head,
          '-m',
          'less',
          `${template.head}^{tree}`,
        );
      },
    ],
    [
      'an uncommitted file of a snapshot is behind no ref',
      ({ evidence: { remote, clones } }) => {
        for (const folder of [remote, ...clones]) git(folder, 'update-ref', '-d', 'refs/copse/work/cp-1/1');
      },
    ],
  ],
  'fast-forward': [
    [
      'the target moved back',
      ({ evidence: { remote } }) => {
        git(remote, 'update-ref', 'refs/heads/main', 'main^');
        git(remote, 'update-ref', 'refs/heads/main', template.landed);
      },
    ],
    [
      'the reflog has a hole',
      ({ evidence: { remote } }) => {
        const file = path.join(remote, 'logs', 'refs', 'heads', 'main');
        const lines = readFileSync(file, 'utf8').split('\n');
        writeFileSync(file, [lines[0], ...lines.slice(2)].join('\n'));
      },
    ],
  ],
  followed: [
    ['a follower skipped an event', (scene) => sees(scene, [1, 2, 3, 4, 5, 6, 7, 9])],
    ['a follower saw an event twice', (scene) => sees(scene, [1, 2, 3, 4, 5, 6, 7, 8, 8, 9])],
    ['a follower stopped early', (scene) => sees(scene, [1, 2, 3, 4, 5, 6, 7, 8])],
    ['a follower missed the beginning', (scene) => sees(scene, [3, 4, 5, 6, 7, 8, 9])],
    ['a follower saw nothing', (scene) => sees(scene, [])],
  ],
};

describe('the checker of several machines', () => {
  it('finds nothing wrong in a run that went well, and sees all of it', () => {
    const scene = openScene();
    expect(judge(scene)).toEqual([]);
    expect(seenBy({ exported: exported(scene.events, scene.tasks) })).toEqual({
      claims: 2,
      landed: 1,
      snapshots: 1,
    });
  });

  it('has a broken run for each of its rules', () => {
    const text = readFileSync(new URL('../support/checker.ts', import.meta.url), 'utf8');
    const rules = [...text.slice(0, text.indexOf('*/')).matchAll(/^ \* {3}([\w-]+) {2,}/gm)].map(
      ([, rule]) => rule,
    );
    expect(Object.keys(doctored)).toEqual(rules);
  });

  for (const [rule, ways] of Object.entries(doctored)) {
    it.each(ways)(`finds by the rule ${rule} that %s`, (_, doctor) => {
      const scene = openScene();
      doctor(scene);
      const found = judge(scene).map((sentence) => sentence.split(':')[0]);
      expect([...new Set(found)]).toEqual([rule]);
    });
  }
});

function makeTemplate() {
  const place = path.join(area, 'template');
  const [remote, clone] = [path.join(place, 'remote.git'), path.join(place, 'clone')];
  git(area, 'init', '--quiet', '--bare', '--initial-branch=main', remote);
  git(remote, 'config', 'core.logAllRefUpdates', 'true');
  const give = (input: string, ...argv: readonly string[]) =>
    runGit({ cwd: remote, argv, input }).stdout.toString().trimEnd();
  const treeWith = (files: Readonly<Record<string, string>>) => {
    const lines = Object.entries(files).map(
      ([name, text]) => `100644 blob ${give(text, 'hash-object', '-w', '--stdin')}\t${name}\n`,
    );
    return give(lines.join(''), 'mktree');
  };
  const commit = (files: Readonly<Record<string, string>>, message: string, ...parents: readonly string[]) =>
    git(remote, 'commit-tree', ...parents.flatMap((id) => ['-p', id]), '-m', message, treeWith(files));
  const first = commit({ a: 'a\n' }, 'first');
  const head = commit({ a: 'a\n', b: 'b\n' }, 'feat: b', first);
  const snapshot = commit({ a: 'a\n', b: 'b\n', c: 'uncommitted\n' }, 'snapshot', head);
  const other = commit({ a: 'a\n', d: 'd\n' }, 'feat: d', first);
  const landed = commit({ a: 'a\n', b: 'b\n', d: 'd\n' }, 'feat: b', other);
  for (const tip of [first, other, landed]) git(remote, 'update-ref', 'refs/heads/main', tip);
  git(remote, 'update-ref', 'refs/copse/work/cp-1/1', snapshot);
  git(area, 'clone', '--quiet', remote, clone);
  return { place, first, head, snapshot, landed };
}
