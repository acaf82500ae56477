/** What kills and finished tasks leave behind goes away by itself, and nothing that is still needed does. */

import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import type { WorkspaceContext } from '../../../packages/copse/src/workspaces/act/context.ts';
import { openWorkspaceContext } from '../../../packages/copse/src/compose/open.ts';
import { removeWorkspace } from '../../../packages/copse/src/workspaces/discard/remove.ts';
import { tend } from '../../../packages/copse/src/workspaces/act/tend.ts';
import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { answer, copse, git, newArea, plainEnv, printed } from '../../support/cli.ts';
import { newProject, taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();

type At = ReturnType<typeof newProject>;

const inside = ({ cwd }: At, ...names: readonly string[]) => path.join(cwd, '.copse', ...names);

async function withContext<T>(at: At, work: (context: WorkspaceContext) => Promise<T>): Promise<T> {
  const context = await openWorkspaceContext({ ...at, env: plainEnv });
  try {
    return await work(context);
  } finally {
    await context.board.close();
  }
}

const portsHeld = ({ board }: WorkspaceContext) =>
  board.list('resource').then((all) => all.filter(({ holder }) => holder !== null).length);

class Killed extends Error {}

describe('a removal that was killed', () => {
  // promise: leftovers-bounded
  test.each(['trashed', 'branch_deleted'] as const)(
    'after %s is recorded by the next round, with its ports',
    async (step) => {
      const at = newProject(area);
      const { task, ports } = await taken('Removed', at);
      expect(ports.length).toBeGreaterThan(0);
      await withContext(at, async (context) => {
        const request = { by: 'person', isNamed: true, isForced: true, deleteBranch: false } as const;
        await expect(
          removeWorkspace(context, task as TaskId, request, (at) => {
            if (at === step) throw new Killed();
          }),
        ).rejects.toThrow(Killed);
        expect(await portsHeld(context)).toBe(ports.length);
      });
      await copse(['tend'], at);
      await withContext(at, async (context) => {
        const [workspace] = await context.board.list('workspace', { task: task as TaskId });
        expect(workspace?.disposition.is).toBe('released');
        expect(await portsHeld(context)).toBe(0);
      });
      // It can still be undone.
      expect((await copse(['undo', task], at)).code).toBe(0);
    },
  );

  test('leaves alone a worktree whose folder a person moved away', async () => {
    const at = newProject(area);
    const { task, worktree } = await taken('Moved', at);
    git(at.cwd, 'worktree', 'unlock', worktree);
    git(at.cwd, 'worktree', 'move', worktree, `${worktree}-elsewhere`);
    await copse(['tend'], at);
    await withContext(at, async ({ board }) => {
      const [workspace] = await board.list('workspace', { task: task as TaskId });
      expect(workspace?.disposition.is).toBe('in_use');
    });
  });
});

describe('leftovers of finished tasks', () => {
  // promise: leftovers-bounded
  test('scratch folders of dead processes, locks and merged kept refs go; others stay', async () => {
    const at = newProject(area);
    const landed = await taken('Landed', at);
    const open = await taken('Open', at);
    writeFileSync(path.join(landed.worktree, 'file.txt'), 'x\n');
    git(landed.worktree, 'add', '.');
    git(landed.worktree, 'commit', '--quiet', '--message=feat: it');
    await answer(['finish', landed.task, '--summary', 'done'], { ...at, cwd: landed.worktree });
    await copse(['merge', landed.task], at);
    expect(await printed(['show', landed.task], at)).toContain('DONE');

    const tip = git(at.cwd, 'rev-parse', 'HEAD').trim();
    const keep = (task: string, commit: string) => {
      const ref = `refs/copse/keep/${task}/1700000000000-${commit.slice(0, 12)}`;
      git(at.cwd, 'update-ref', ref, commit);
      return ref;
    };
    const unmerged = git(at.cwd, 'commit-tree', '-m', 'only here', 'HEAD^{tree}').trim();
    const merged = keep(landed.task, tip);
    const kept = [keep(landed.task, unmerged), keep(open.task, tip), keep('cp-zzzz', tip)];

    mkdirSync(inside(at, 'tmp'), { recursive: true });
    const scratch = (name: string, old: boolean) => {
      mkdirSync(inside(at, 'tmp', name));
      writeFileSync(inside(at, 'tmp', name, 'index'), '');
      if (old) utimesSync(inside(at, 'tmp', name), 1, 1);
    };
    // No process has an id as high as this one.
    scratch('rescue-99999999-abcdef', true);
    scratch('rescue-99999998-abcdef', false);
    scratch(`rescue-${process.pid}-abcdef`, true);
    scratch('rescue-zzzzzz', true);

    await copse(['tend'], at);
    expect(
      readdirSync(inside(at, 'tmp'))
        .filter((name) => name.startsWith('rescue-'))
        .toSorted(),
    ).toEqual(['rescue-99999998-abcdef', `rescue-${process.pid}-abcdef`].toSorted());
    const refs = git(at.cwd, 'for-each-ref', '--format=%(refname)', 'refs/copse/keep/').split('\n');
    expect(refs).not.toContain(merged);
    for (const ref of kept) expect(refs).toContain(ref);
    expect(existsSync(inside(at, 'locks', `task-${landed.task}`))).toBe(false);
    expect(existsSync(inside(at, 'locks', `task-${open.task}`))).toBe(true);
  });

  // promise: leftovers-bounded
  test('an entry of the trash that needs nothing costs later rounds no look at the processes of the machine', async () => {
    const at = newProject(area);
    const { task } = await taken('Removed', at);
    await printed(['cleanup', task, '--force'], at);
    const looks: string[] = [];
    const round = () =>
      withContext(at, async (context) => {
        const inside: WorkspaceContext['occupancy']['inside'] = (folder, known) => {
          looks.push(folder);
          return context.occupancy.inside(folder, known);
        };
        await tend({ ...context, occupancy: { ...context.occupancy, inside } });
        expect(await context.trash.all()).toHaveLength(1);
      });
    await round();
    expect(looks).toHaveLength(1);
    await round();
    expect(looks).toHaveLength(1);
  });
});
