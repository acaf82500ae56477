/** What Copse does with git, each once, with an answer that can be compared. */

import {
  cpSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { Merger, RefWriter } from '../../../packages/copse/src/git/long-lived.ts';
import { ObjectReader } from '../../../packages/copse/src/git/objects/object-reader.ts';
import { git, gitLine, tryGit, type TrustedDir } from '../../../packages/copse/src/git/process.ts';
import { fetchBranches, pushDelete } from '../../../packages/copse/src/git/refs/remote.ts';
import { openWorkRefs } from '../../../packages/copse/src/git/refs/work-refs.ts';
import { markdownSource } from '../../../packages/copse/src/intake/markdown/source.ts';
import { type Item, itemKey } from '../../../packages/copse/src/intake/rules/item.ts';
import type { SourceSettings } from '../../../packages/copse/src/intake/rules/source.ts';
import { openRescues } from '../../../packages/copse/src/workspaces/git/rescue/rescues.ts';
import { ignoredIn, uncommittedIn } from '../../../packages/copse/src/git/worktrees/worktrees.ts';
import {
  type BranchName,
  type CommitId,
  type FencingToken,
  type TaskId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { git as plainGit } from '../cli.ts';
import type { Scene } from './git-scene.ts';

interface Operation {
  readonly run: (dir: TrustedDir, scene: Scene) => Promise<unknown>;
  readonly reachesRemote?: true;
}

const branch = (name: string) => brand<BranchName>(name);

const identity = {
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.invalid',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.invalid',
};

const listSettings: SourceSettings = {
  name: 'todo',
  type: 'markdown',
  place: '*.md',
  intervalMs: 60_000,
  onClosed: 'keep',
  onlyFrom: null,
  hasComments: false,
  hasLabels: false,
  drawnBy: [],
};

function listItem(item: string, title: string): Item {
  const nothing = { url: null, mark: '', given: '', isClosed: false, by: null, author: null, dependsOn: [] };
  const task = brand<TaskId>('cp-task');
  const id = itemKey('todo', item);
  return {
    id,
    source: 'todo',
    item,
    title,
    task,
    ...nothing,
    takenAt: timestamp(0),
    changedAt: null,
    report: null,
  };
}

/** In this order, each on what the ones before it left. */
export const operations: Readonly<Record<string, Operation>> = {
  'read refs': {
    run: (dir) => gitLine(dir, ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads']),
  },
  'read history': {
    run: async (dir) => [
      await gitLine(dir, ['log', '--format=%H %T', 'refs/heads/main', 'refs/heads/other']),
      await gitLine(dir, ['merge-base', 'refs/heads/main', 'refs/heads/ahead']),
    ],
  },
  'read objects': {
    run: async (dir) => {
      const input = `refs/heads/main:code.txt\n${'ab'.repeat(20)}\n`;
      return (await git(dir, ['cat-file', '--batch'], { input })).toString();
    },
  },
  'check files out': {
    run: async (dir, { top }) => {
      const workTree = path.join(top, 'ignored', 'fresh checkout');
      mkdirSync(workTree, { recursive: true });
      const index = path.join(top, 'ignored', 'fresh index');
      await git(dir, ['read-tree', '-u', '--reset', 'refs/heads/main'], { workTree, index });
      return filesIn(workTree);
    },
  },
  'look for changes': {
    run: async (dir, scene) => {
      const options = { workTree: scene.worktree, index: ownIndex(scene, 'status') };
      return [
        await gitLine(dir, ['diff-index', '--raw', 'refs/heads/task'], options),
        await gitLine(dir, ['ls-files', '--others', '--exclude-standard'], options),
      ];
    },
  },
  'look for uncommitted work': { run: (dir, { worktree }) => uncommittedIn(dir, worktree) },
  'list what is ignored': {
    run: (dir, { worktree, gitDir }) => {
      // Some of what is planted is there.
      mkdirSync(path.join(worktree, 'ignored'), { recursive: true });
      writeFileSync(path.join(worktree, 'ignored', 'cache'), '');
      return ignoredIn(dir, {
        files: worktree,
        gitDir: path.join(gitDir, 'worktrees', 'task'),
        isThin: false,
      });
    },
  },
  'tick a list': {
    run: async (dir) => {
      const input = '- [ ] One\n- [ ] Two\n';
      const blob = await gitLine(dir, ['hash-object', '-w', '-t', 'blob', '--stdin'], { input, isRaw: true });
      const tree = await gitLine(dir, ['mktree'], { input: `100644 blob ${blob}\tTODO.md\n` });
      const env = { ...identity, GIT_AUTHOR_DATE: '@1 +0000', GIT_COMMITTER_DATE: '@1 +0000' };
      const tip = brand<CommitId>(await gitLine(dir, ['commit-tree', tree, '-m', 'list'], { env }));
      const target = async () => ({ branch: branch('main'), tip });
      const list = markdownSource({ settings: listSettings, files: ['*.md'], dir, target });
      const read = await list.read([]);
      if (read.kind === 'failed') return read;
      const known = read.items.map(({ id, title }) => listItem(id, title));
      const ticked = await list.tick?.({ items: known.slice(0, 1), known, message: 'Tick a box' });
      if (ticked?.kind !== 'ticked') return ticked;
      return gitLine(dir, ['cat-file', 'blob', `${ticked.commit}:TODO.md`]);
    },
  },
  'show a difference': {
    run: (dir) => gitLine(dir, ['diff', 'refs/heads/main', 'refs/heads/other']),
  },
  'take a snapshot': {
    run: async (dir, { worktree }) => {
      const request = {
        task: brand<TaskId>('cp-task'),
        worktree,
        why: 'asked',
        at: timestamp(1_700_000_000_000),
      } as const;
      const outcome = await openRescues(dir).snapshot(request);
      if (outcome.kind === 'nothing_to_save') return outcome;
      return [outcome, await gitLine(dir, ['ls-tree', '-r', outcome.rescue.commit])];
    },
  },
  'restore a snapshot': {
    run: async (dir, { worktree }) => {
      rmSync(path.join(worktree, 'new.md'));
      const [rescue] = await openRescues(dir).list();
      if (rescue === undefined) return 'there is none';
      return [
        await openRescues(dir).restore(rescue, worktree),
        readFileSync(path.join(worktree, 'code.txt'), 'utf8'),
      ];
    },
  },
  'take a snapshot that travels': {
    run: async (dir, { worktree }) => {
      const at = timestamp(Date.parse('2026-01-02T03:04:05.678Z'));
      const of = { task: brand<TaskId>('cp-w0rk'), worktree, branch: branch('task'), at };
      const taken = await openRescues(dir).travelling({ ...of, known: null, previous: null });
      if (taken.kind !== 'captured') return taken;
      return [taken.left, await gitLine(dir, ['ls-tree', '-r', taken.commit])];
    },
  },
  merge: {
    run: async (dir) => {
      const argv = ['merge-tree', '--write-tree', 'refs/heads/main', 'refs/heads/other'];
      const { code, stdout } = await tryGit(dir, argv);
      return [code, stdout.toString()];
    },
  },
  'ask gits that stay': {
    run: async (dir) => {
      const [reader, writer, merger] = [new ObjectReader(dir), new RefWriter(dir), new Merger(dir)];
      try {
        const facts = await reader.check(['refs/heads/main', 'refs/heads/other', 'ab'.repeat(20)]);
        const [main, other] = facts.map((found) => brand<CommitId>(found?.id ?? ''));
        if (main === undefined || other === undefined) return facts;
        const moved = await writer.move('refs/heads/stays', null, main);
        return [
          facts,
          moved,
          await writer.move('refs/heads/stays', main, null),
          await merger.merge(main, other),
        ];
      } finally {
        await Promise.all([reader, writer, merger].map((standing) => standing.close()));
      }
    },
  },
  fetch: {
    run: async (dir) => [
      await fetchBranches(dir, 'origin', [branch('main'), branch('ahead'), branch('never')]),
      await gitLine(dir, ['for-each-ref', '--format=%(refname) %(objectname) %(symref)', 'refs/remotes']),
      await gitLine(dir, ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads']),
    ],
    reachesRemote: true,
  },
  'delete a branch of the remote': {
    run: async (dir, { origin, elsewhere }) => {
      const tip = await gitLine(dir, ['rev-parse', 'refs/heads/gone']);
      const deleted = await pushDelete(dir, 'origin', branch('gone'), brand<CommitId>(tip));
      const show = (folder: string) => plainGit(folder, 'for-each-ref');
      return [deleted, show(origin), show(elsewhere)];
    },
    reachesRemote: true,
  },
  'push, fetch and remove a snapshot': {
    run: async (dir, { origin, elsewhere }) => {
      const work = openWorkRefs(dir);
      const of = { task: brand<TaskId>('cp-w0rk'), token: 3 as FencingToken };
      const tip = brand<CommitId>(await gitLine(dir, ['rev-parse', 'refs/heads/task']));
      const show = (folder: string) => plainGit(folder, 'for-each-ref');
      const pushed = [await work.push(of, tip), show(origin), show(elsewhere)];
      const fetched = [
        await work.fetch([of]),
        (await gitLine(dir, ['for-each-ref', '--format=%(objectname)', 'refs/copse/fetched'])) === tip,
      ];
      return [pushed, fetched, await work.list(), await work.drop([of]), show(origin), show(elsewhere)];
    },
    reachesRemote: true,
  },
  'move a branch': {
    run: async (dir) => {
      const [to, from] = await Promise.all(
        ['other', 'main'].map((name) => gitLine(dir, ['rev-parse', `refs/heads/${name}`])),
      );
      // The old value is what the alias is at, whether by itself or through another branch.
      await git(dir, ['update-ref', 'refs/heads/alias', to ?? '', from ?? '']);
      return gitLine(dir, ['for-each-ref', '--format=%(refname) %(objectname) %(symref)', 'refs/heads']);
    },
  },
  'delete a branch': {
    run: async (dir) => {
      const tip = await gitLine(dir, ['rev-parse', 'refs/heads/other']);
      await git(dir, ['update-ref', '-d', 'refs/heads/alias', tip]);
      return gitLine(dir, ['for-each-ref', '--format=%(refname) %(objectname) %(symref)', 'refs/heads']);
    },
  },
};

function ownIndex({ top, gitDir }: Scene, name: string): string {
  const index = path.join(top, 'ignored', `${name} index`);
  mkdirSync(path.dirname(index), { recursive: true });
  cpSync(path.join(gitDir, 'worktrees', 'task', 'index'), index);
  return index;
}

export function filesIn(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  return names.map((name) => {
    const file = path.join(folder, name);
    const found = lstatSync(file);
    const text = found.isSymbolicLink()
      ? readlinkSync(file)
      : found.isFile()
        ? readFileSync(file, 'utf8')
        : '';
    return `${name} ${found.mode.toString(8)} ${text}`;
  });
}
