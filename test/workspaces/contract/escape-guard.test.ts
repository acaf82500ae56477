import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { checkoutState } from '../../../packages/copse/src/workspaces/git/checkout-state.ts';
import { openCheckout } from '../../../packages/copse/src/workspaces/git/checkout.ts';
import { openGit } from '../../../packages/copse/src/git/repository.ts';
import { claimTask } from '../../../packages/copse/src/tasks/act/claims.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import {
  type GuardContext,
  beginGuard,
  checkGuard,
  moveEscape,
} from '../../../packages/copse/src/workspaces/discard/escape-guard.ts';
import { decided } from '../../../packages/copse/src/kernel/decision.ts';
import {
  type BranchName,
  type CommitId,
  type NodeId,
  type SessionId,
  type TaskId,
  type WorkspaceId,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { contextOf, newPlace } from '../../support/board/boards.ts';
import { git, newArea } from '../../support/cli.ts';
import { type Site, manifest, newSite, write } from '../../support/workspaces/rescues.ts';
import { claimant, must, newTask } from '../../support/records/tasks.ts';

const area = newArea();
const node = brand<NodeId>('no-1');
const files = { 'a.txt': 'a\n', 'b ü "q".txt': 'b\n', 'src/c.txt': 'c\n', '.gitignore': 'ignored\n' };

interface Scene extends AsyncDisposable {
  readonly site: Site;
  readonly main: string;
  readonly worktree: string;
  readonly context: GuardContext;
  run(
    session: string,
    options?: { readonly isStatic?: boolean; readonly worktree?: string },
  ): Promise<TaskId>;
}

async function newScene(): Promise<Scene> {
  const site = newSite(area, files);
  const place = await newPlace('sqlite');
  const board = await place.open();
  const context: GuardContext = {
    ...contextOf(board),
    checkout: openCheckout(site.dir, site.repository),
    git: openGit(site.dir, defaultPolicy),
    rescues: site.rescues,
    node,
    root: site.repository,
  };
  return {
    site,
    main: site.repository,
    worktree: site.worktree,
    context,
    async run(session, { isStatic = false, worktree = site.worktree } = {}) {
      const { id: task } = await newTask(board, { title: `Work of ${session}` });
      must(await claimTask(context, task, claimant(session)));
      const baseCommit = brand<CommitId>(git(site.repository, 'rev-parse', 'main'));
      const at = {
        path: worktree,
        branch: brand<BranchName>('work'),
        baseBranch: brand<BranchName>('main'),
        baseCommit,
      };
      must(
        await change(context, (change) =>
          change.apply(
            decided({
              type: 'workspace.prepared',
              id: brand<WorkspaceId>(`ws-of-${session}`),
              at: change.at,
              task,
              node,
              strategy: isStatic ? 'static' : 'git_worktree',
              worktree: isStatic ? null : at,
            }),
          ),
        ),
      );
      return task;
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

/** Index, HEAD and refs of the main checkout, with times: what looking and moving must leave alone. */
function own(main: string): unknown {
  const entries = ['index', 'HEAD'].map((name) => path.join(main, '.git', name));
  const refs = git(main, 'for-each-ref', 'refs/heads', 'refs/stash');
  return [entries.map((file) => [readFileSync(file, 'latin1'), statSync(file).mtimeMs]), refs];
}

describe('a look at the main checkout', () => {
  it('sees edits, deletions, modes, links and untracked files by content, and writes nothing', async () => {
    await using scene = await newScene();
    const { main, site } = scene;
    const before = await checkoutState(site.dir, main);
    expect(before).toMatchObject({ head: git(main, 'rev-parse', 'HEAD'), branch: 'main', changes: [] });
    write(main, 'a.txt', 'edited\n');
    rmSync(path.join(main, 'src/c.txt'));
    chmodSync(path.join(main, 'b ü "q".txt'), 0o755);
    write(main, 'new\nline.txt', 'n\n');
    symlinkSync('/etc/passwd', path.join(main, 'link'));
    write(main, 'ignored', 'x\n');
    const [bytes, objects] = [own(main), git(main, 'count-objects')];
    const { changes } = await checkoutState(site.dir, main);
    expect(changes.map(({ path, version }) => [path, version?.split(' ')[0] ?? null])).toEqual([
      ['a.txt', '100644'],
      ['b ü "q".txt', '100755'],
      ['link', '120000'],
      ['new\nline.txt', '100644'],
      ['src/c.txt', null],
    ]);
    expect(changes[0]?.version).toBe(`100644 ${git(main, 'hash-object', 'a.txt')}`);
    expect([own(main), git(main, 'count-objects')]).toEqual([bytes, objects]);
  });

  it('sees an edit behind assume-unchanged', async () => {
    await using scene = await newScene();
    git(scene.main, 'update-index', '--assume-unchanged', 'a.txt');
    write(scene.main, 'a.txt', 'edited\n');
    const { changes } = await checkoutState(scene.site.dir, scene.main);
    expect(changes.map(({ path }) => path)).toEqual(['a.txt']);
  });

  it('does not read files again whose stat is unchanged', async () => {
    await using scene = await newScene();
    write(scene.main, 'new.txt', 'n\n');
    const since = await checkoutState(scene.site.dir, scene.main);
    const known = since.changes.map((change) => ({ ...change, version: 'as known' }));
    const again = await checkoutState(scene.site.dir, scene.main, { since: { ...since, changes: known } });
    expect(again.changes).toEqual(known);
    write(scene.main, 'new.txt', 'm\n');
    const third = await checkoutState(scene.site.dir, scene.main, { since: again });
    expect(third.changes[0]?.version).toBe(`100644 ${git(scene.main, 'hash-object', 'new.txt')}`);
  });
});

describe('the escape guard', () => {
  // promise: escape-reported
  it('records once which files changed while which session was running', async () => {
    await using scene = await newScene();
    const { context, main } = scene;
    write(main, 'mine.txt', 'before the session\n');
    const begun = JSON.parse(JSON.stringify(await beginGuard(context))) as Awaited<
      ReturnType<typeof beginGuard>
    >;
    const task = await scene.run('se-1');
    const quiet = await checkGuard(context, begun);
    expect(quiet).toMatchObject({ escape: null, tasks: [] });
    write(main, 'src/escaped.txt', 'x\n');
    write(main, 'a.txt', 'edited\n');
    const told = await checkGuard(context, quiet.state);
    const escape = {
      paths: ['a.txt', 'src/escaped.txt'],
      more: 0,
      head: null,
      running: ['se-1'],
      session: 'se-1',
    };
    expect(told).toMatchObject({ tasks: [task], escape });
    expect(await context.board.get('workspace', 'ws-of-se-1')).toMatchObject({ escape });
    const events = (await context.board.events({ after: brand(0), limit: 100 })).map(({ event }) => event);
    expect(events.filter(({ type }) => type === 'workspace.escaped')).toMatchObject([
      { id: 'ws-of-se-1', ...escape },
    ]);
    expect(await checkGuard(context, told.state)).toMatchObject({ escape: null });
  });

  // promise: escape-reported
  it('marks every workspace whose session may have done it, or only the one whose process was seen', async () => {
    await using scene = await newScene();
    const { context, main } = scene;
    const [, second] = [await scene.run('se-1'), await scene.run('se-2')];
    const begun = await beginGuard(context);
    write(main, 'x.txt', 'x\n');
    const told = await checkGuard(context, begun);
    expect(told.tasks).toHaveLength(2);
    expect(told.escape).toMatchObject({ session: null });
    write(main, 'y.txt', 'y\n');
    const seen = await checkGuard(context, told.state, { seenThere: [brand<SessionId>('se-2')] });
    expect(seen).toMatchObject({ tasks: [second], escape: { session: 'se-2', paths: ['y.txt'] } });
    expect((await context.board.get('workspace', 'ws-of-se-1'))?.escape?.paths).toEqual(['x.txt']);
  });

  it('reports nothing while no session runs, or one that works in the main checkout', async () => {
    await using scene = await newScene();
    const { context, main } = scene;
    const begun = await beginGuard(context);
    write(main, 'x.txt', 'x\n');
    const nobody = await checkGuard(context, begun);
    expect(nobody.escape).toBeNull();
    await scene.run('se-1', { isStatic: true });
    write(main, 'y.txt', 'y\n');
    expect((await checkGuard(context, nobody.state)).escape).toBeNull();
  });

  it('sees a commit in the main checkout with its files, and expects Copse’s own', async () => {
    await using scene = await newScene();
    const { context, main } = scene;
    await scene.run('se-1');
    const begun = await beginGuard(context);
    write(main, 'a.txt', 'committed\n');
    git(main, 'commit', '--quiet', '--all', '--message=escaped');
    const head = brand<CommitId>(git(main, 'rev-parse', 'HEAD'));
    expect((await checkGuard(context, begun, { expectedHeads: [head] })).escape).toBeNull();
    const told = await checkGuard(context, begun);
    expect(told.escape).toMatchObject({ paths: ['a.txt'], head: { from: begun.head, to: head } });
    git(main, 'reset', '--quiet', '--soft', 'HEAD~1');
    const soft = await checkGuard(context, told.state);
    expect(soft.escape).toMatchObject({ paths: [], head: { from: head, to: begun.head } });
  });
});

describe('moving an escape', () => {
  it('brings edits, new files, links, modes and deletions to the worktree and the main checkout back to HEAD', async () => {
    await using scene = await newScene();
    const { context, main, worktree } = scene;
    const clean = manifest(main);
    const begun = await beginGuard(context);
    const task = await scene.run('se-1');
    write(main, 'a.txt', 'edited\n');
    write(main, 'deep/new ü.txt', 'n\n');
    rmSync(path.join(main, 'src/c.txt'));
    chmodSync(path.join(main, 'b ü "q".txt'), 0o755);
    symlinkSync('/nowhere', path.join(main, 'link'));
    const { escape } = await checkGuard(context, begun);
    expect(escape?.paths).toHaveLength(5);
    const before = own(main);
    const outcome = await moveEscape(context, { task });
    expect(outcome).toMatchObject({ moved: escape?.paths, left: [] });
    expect(own(main)).toEqual(before);
    const ofCopse = ([name]: readonly [string, string]) =>
      !name.startsWith('.copse') && !name.startsWith('.git/');
    const shown = (all: Readonly<Record<string, string>>) => Object.entries(all).filter(ofCopse);
    expect(shown(manifest(main))).toEqual(shown(clean));
    expect(git(main, 'status', '--porcelain')).toBe('');
    expect(git(worktree, 'status', '--porcelain').split('\n').toSorted()).toEqual([
      ' D src/c.txt',
      ' M "b \\303\\274 \\"q\\".txt"',
      ' M a.txt',
      '?? deep/',
      '?? link',
    ]);
    expect(readFileSync(path.join(worktree, 'deep/new ü.txt'), 'utf8')).toBe('n\n');
    expect(lstatSync(path.join(worktree, 'link')).isSymbolicLink()).toBe(true);
    expect(readdirSync(main).filter((name) => name.includes('copse-'))).toEqual([]);
    expect((await context.board.get('workspace', 'ws-of-se-1'))?.escape).toBeUndefined();
    if (outcome.kind === 'refused') throw new Error(outcome.reason);
    expect(git(main, 'show', `${outcome.rescue}:a.txt`)).toBe('edited');
    expect(await moveEscape(context, { task, paths: ['a.txt'] })).toMatchObject({
      because: 'nothing_to_move',
    });
  });

  // promise: escape-reported, checkout-untouched
  it('touches only the paths that were named', async () => {
    await using scene = await newScene();
    const { context, main, worktree } = scene;
    const task = await scene.run('se-1');
    write(main, 'a.txt', 'edited\n');
    write(main, 'person.txt', 'a person is writing this\n');
    const outcome = await moveEscape(context, { task, paths: ['a.txt', '../outside', 'nothing.txt'] });
    expect(outcome).toMatchObject({
      moved: ['a.txt'],
      left: [
        { path: '../outside', outcome: 'unchanged' },
        { path: 'nothing.txt', outcome: 'unchanged' },
      ],
    });
    expect(git(main, 'status', '--porcelain')).toBe('?? person.txt');
    expect(existsSync(path.join(worktree, 'person.txt'))).toBe(false);
  });

  // promise: checkout-untouched
  it('leaves staged changes staged', async () => {
    await using scene = await newScene();
    const { context, main, worktree } = scene;
    const task = await scene.run('se-1');
    write(main, 'a.txt', 'staged\n');
    write(main, 'new.txt', 'staged\n');
    git(main, 'add', 'a.txt', 'new.txt');
    write(main, 'a.txt', 'staged and edited\n');
    const outcome = await moveEscape(context, { task, paths: ['a.txt', 'new.txt'] });
    expect(outcome).toMatchObject({
      moved: [],
      left: [
        { path: 'a.txt', outcome: 'staged' },
        { path: 'new.txt', outcome: 'staged' },
      ],
    });
    expect(git(main, 'status', '--porcelain')).toBe('MM a.txt\nA  new.txt');
    expect(git(worktree, 'status', '--porcelain')).toBe('');
  });

  const obstacles: Readonly<Record<string, (worktree: string) => void>> = {
    'an uncommitted edit': (worktree) => write(worktree, 'a.txt', 'of the agent\n'),
    'a commit of its own': (worktree) => {
      write(worktree, 'a.txt', 'of the agent\n');
      git(worktree, 'commit', '--quiet', '--all', '--message=own');
    },
    'a deletion': (worktree) => rmSync(path.join(worktree, 'a.txt')),
    'a folder in its place': (worktree) => {
      rmSync(path.join(worktree, 'a.txt'));
      write(worktree, 'a.txt/x', 'x\n');
    },
  };

  // promise: restore-overwrites-nothing
  it.each(Object.entries(obstacles))('moves nothing over %s in the worktree', async (_, obstacle) => {
    await using scene = await newScene();
    const { context, main, worktree } = scene;
    const task = await scene.run('se-1');
    obstacle(worktree);
    const before = manifest(worktree);
    write(main, 'a.txt', 'edited\n');
    const outcome = await moveEscape(context, { task, paths: ['a.txt'] });
    expect(outcome).toMatchObject({ moved: [], left: [{ path: 'a.txt', outcome: 'in_the_way' }] });
    expect(manifest(worktree)).toEqual(before);
    expect(readFileSync(path.join(main, 'a.txt'), 'utf8')).toBe('edited\n');
  });

  it('moves nothing over an ignored file, nor through a link that leads out of the worktree', async () => {
    await using scene = await newScene();
    const { context, main, worktree } = scene;
    const task = await scene.run('se-1');
    write(main, '.gitignore', '');
    write(main, 'ignored', 'of main\n');
    write(worktree, 'ignored', 'of the agent\n');
    write(main, 'out/x.txt', 'x\n');
    symlinkSync(area, path.join(worktree, 'out'));
    const outcome = await moveEscape(context, { task, paths: ['ignored', 'out/x.txt'] });
    expect(outcome).toMatchObject({
      moved: [],
      left: [
        { path: 'ignored', outcome: 'in_the_way' },
        { path: 'out/x.txt', outcome: 'in_the_way' },
      ],
    });
    expect(readFileSync(path.join(worktree, 'ignored'), 'utf8')).toBe('of the agent\n');
    expect(existsSync(path.join(area, 'x.txt'))).toBe(false);
  });

  it('leaves a file in the main checkout that was written after the snapshot', async () => {
    await using scene = await newScene();
    const { context, main, worktree, site } = scene;
    const task = await scene.run('se-1');
    write(main, 'a.txt', 'edited\n');
    write(main, 'new.txt', 'new\n');
    const rescues: GuardContext['rescues'] = {
      async snapshot(request) {
        const saved = await site.rescues.snapshot(request);
        write(main, 'a.txt', 'edited again\n');
        write(main, 'new.txt', 'new again\n');
        return saved;
      },
    };
    const outcome = await moveEscape({ ...context, rescues }, { task, paths: ['a.txt', 'new.txt'] });
    expect(outcome).toMatchObject({
      moved: [],
      left: [
        { path: 'a.txt', outcome: 'changed_since' },
        { path: 'new.txt', outcome: 'changed_since' },
      ],
    });
    expect(readFileSync(path.join(main, 'a.txt'), 'utf8')).toBe('edited again\n');
    expect(readFileSync(path.join(main, 'new.txt'), 'utf8')).toBe('new again\n');
    expect(git(worktree, 'status', '--porcelain')).toBe('');
  });

  // promise: rescue-failure-blocks
  it('does not happen at all when the snapshot fails', async () => {
    await using scene = await newScene();
    const { context, main, worktree } = scene;
    const task = await scene.run('se-1');
    write(main, 'a.txt', 'edited\n');
    const rescues = { snapshot: () => Promise.reject(new Error('disk full')) };
    await expect(moveEscape({ ...context, rescues }, { task, paths: ['a.txt'] })).rejects.toThrow(
      'disk full',
    );
    expect(readFileSync(path.join(main, 'a.txt'), 'utf8')).toBe('edited\n');
    expect(git(worktree, 'status', '--porcelain')).toBe('');
  });
});
