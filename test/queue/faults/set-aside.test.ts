/** One change that cannot land: it alone is set aside with the reason, and everything else lands. */

import { randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { whyTask } from '../../../packages/copse/src/explain/why.ts';
import { git, newArea } from '../../support/cli.ts';
import { QueueScene, until } from '../../support/queue/queue-scene.ts';
import { must } from '../../support/records/tasks.ts';

const area = newArea();

// promise: failed-landing-stops-no-other
test.each(['rebase', 'squash'])(
  'a file whose object is damaged stops only its own task, and the checkout is as before (%s)',
  async (method) => {
    await using scene = new QueueScene(area, `damaged ${method}`, {
      landing: { method, checks: {} },
      files: { 'shared.txt': 'before\n' },
    });
    git(scene.folder, 'switch', '--quiet', 'main');
    const content = `${randomBytes(50_000).toString('hex')}\n`;
    const bad = await scene.queue('bad', {
      commit: { files: { 'new/z.txt': content, 'a.txt': 'a\n', 'shared.txt': 'after\n' } },
    });
    const good = await scene.queue('good');
    damage(scene.folder, git(scene.folder, 'rev-parse', 'bad:new/z.txt'));
    await scene.whileLed(() =>
      until('the good one landed', async () => (await scene.status(good)) === 'done'),
    );
    expect(scene.trailers).toEqual([good]);
    expect(git(scene.folder, 'status', '--porcelain')).toBe('');
    expect(readFileSync(path.join(scene.folder, 'shared.txt'), 'utf8')).toBe('before\n');
    expect(existsSync(path.join(scene.folder, '.git', 'index.lock'))).toBe(false);
    await scene.whileLed(() =>
      until('a person is asked', async () => (await scene.status(bad)) === 'needs_attention'),
    );
    const { because } = must(await whyTask(await scene.open(), bad, { isOrchestrated: false }));
    expect(because.join('\n')).toMatch(/Landing it failed.*(corrupt|inflate|unable to read)/s);
  },
);

/** What a branch adds to the tree of the target, and what its owner is told. */
const refused: Readonly<Record<string, readonly [readonly RawEntry[], RegExp]>> = {
  'a short name of .git': [[file('git~1')], /git~1 has a name that is git's own folder/],
  'another case of .git': [[file('.GIT')], /git's own folder/],
  'an invisible character in .git': [[file('.g\u200cit')], /git's own folder/],
  'a long name': [[file('x'.repeat(300))], /more than 255 bytes/],
  'a deep path': [[nested('d'.repeat(200), 6)], /more than 900 bytes/],
  'a colon': [[file('a:b')], /character that Windows allows in no name/],
  'a backslash': [[file('a\\b')], /character that Windows allows in no name/],
  'a device': [[file('aux.txt')], /device of Windows/],
  'a period at the end': [[file('dots.')], /space or a period/],
  'bytes that are no text': [[file(Buffer.from([0x61, 0xff]))], /not UTF-8/],
  'two cases': [[file('Readme'), file('readme')], /one file on macOS and Windows/],
  'two cases, one on the target': [[file('SHARED.txt')], /SHARED.txt and shared.txt are one file/],
  'two forms of an accent': [[file('e\u0301.txt'), file('\u00e9.txt')], /one file on macOS and Windows/],
  'an unknown mode': [[{ ...file('odd'), mode: '150644' }], /mode 150644/],
  'a padded mode': [[{ ...file('padded'), mode: '0100644' }], /mode 0100644/],
  'the same name twice': [[file('twice'), file('twice')], /duplicateEntries/],
  'the folder of the board': [
    [{ mode: '40000', name: '.copse', below: [file('board.db')] }],
    /\.copse is the folder of Copse's board/,
  ],
  'a link in its place': [[{ ...file('.COPSE'), mode: '120000' }], /\.COPSE is the folder of Copse's board/],
  'the folder of the worktrees': [
    [{ mode: '40000', name: '.worktrees', below: [file('x')] }],
    /\.worktrees is the folder of the worktrees of tasks/,
  ],
  'a missing object': [[{ ...file('lost'), id: 'ab'.repeat(20) }], /lost has no content/],
};

// promise: failed-landing-stops-no-other, own-folders-never-land
test('names, modes and objects that some git refuses go back to their owners, and everything else lands', async () => {
  await using scene = new QueueScene(area, 'refused', {
    landing: { checks: {} },
    files: { 'shared.txt': 'before\n' },
  });
  git(scene.folder, 'switch', '--quiet', 'main');
  const ids = new Map<string, string>();
  for (const [what, [entries]] of Object.entries(refused))
    ids.set(what, await scene.queue(what, { head: rawCommit(scene.folder, entries) }));
  const good = await scene.queue('good');
  const { blamed } = await scene.lead();
  expect(scene.trailers).toEqual([good]);
  const told = new Map<string, (typeof blamed)[number]>(blamed.map((one) => [one.task, one]));
  for (const [what, [, reason]] of Object.entries(refused)) {
    const { cause } = told.get(ids.get(what) ?? '') ?? {};
    expect([what, cause?.because, cause?.reason]).toEqual([what, 'unfit', expect.stringMatching(reason)]);
  }
  expect(git(scene.folder, 'status', '--porcelain')).toBe('');
});

// promise: failed-landing-stops-no-other
test('what a later commit of the branch removed again counts, unless it is squashed', async () => {
  for (const [method, landed] of [
    ['rebase', false],
    ['squash', true],
  ] as const) {
    await using scene = new QueueScene(area, `removed again ${method}`, { landing: { method, checks: {} } });
    const first = rawCommit(scene.folder, [file('a:b')]);
    const tree = rawTree(scene.folder, [file('fine')]);
    const head = git(scene.folder, 'commit-tree', '-p', first, '-m', 'feat: fine', tree);
    const id = await scene.queue('again', { head });
    await scene.lead();
    expect([method, await scene.status(id)]).toEqual([method, landed ? 'done' : 'needs_attention']);
  }
});

/** Its header can be read, its content cannot. */
function damage(repository: string, id: string): void {
  const file = path.join(repository, '.git', 'objects', id.slice(0, 2), id.slice(2));
  chmodSync(file, 0o644);
  truncateSync(file, 20_000);
}

interface RawEntry {
  readonly mode: string;
  readonly name: string | Buffer;
  readonly id?: string;
  readonly below?: readonly RawEntry[];
}

function file(name: string | Buffer): RawEntry {
  return { mode: '100644', name };
}

function nested(name: string, depth: number): RawEntry {
  return depth === 0 ? file('x') : { mode: '40000', name, below: [nested(name, depth - 1)] };
}

/** A commit on the target that plain git would not make. */
function rawCommit(repository: string, entries: readonly RawEntry[]): never {
  const tree = rawTree(repository, entries);
  return git(repository, 'commit-tree', '-p', 'main', '-m', 'feat: raw', tree) as never;
}

/** The target's files and these. */
function rawTree(repository: string, entries: readonly RawEntry[]): string {
  const listed = git(repository, 'ls-tree', 'main').split('\n');
  const present = listed.map((line): RawEntry => {
    const [, mode = '', id = '', name = ''] = /^(\d+) \w+ (\w+)\t(.+)$/.exec(line) ?? [];
    return { mode, id, name };
  });
  return writeTree(repository, [...present, ...entries]);
}

function writeTree(repository: string, entries: readonly RawEntry[]): string {
  const write = (type: string, input: Buffer) => {
    const argv = ['hash-object', '-w', '-t', type, '--literally', '--stdin'];
    return execFileSync('git', argv, { cwd: repository, input, encoding: 'utf8' }).trim();
  };
  const sorted = entries
    .map((entry) => ({ ...entry, name: Buffer.from(entry.name) }))
    .toSorted((one, other) => Buffer.compare(one.name, other.name));
  const lines = sorted.map(({ mode, name, id, below }) => {
    const points = id ?? (below ? writeTree(repository, below) : write('blob', Buffer.from('x\n')));
    return Buffer.concat([Buffer.from(`${mode} `), name, Buffer.from([0]), Buffer.from(points, 'hex')]);
  });
  return write('tree', Buffer.concat(lines));
}
