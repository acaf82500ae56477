/** Review: what is shown is what lands, and a branch that moves after it was approved is reviewed again. INVARIANTS 24, 29. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { approve, sendBack } from '../../../packages/copse/src/review/act/review.ts';
import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { undoLanding } from '../../../packages/copse/src/queue/act/undo-landing.ts';
import { openRun } from '../../../packages/copse/src/compose/run/run.ts';
import {
  type CommitId,
  type SessionId,
  type TaskId,
  brand,
  fencingToken,
} from '../../../packages/copse/src/kernel/ids.ts';
import { answer, copse, git, newArea, plainEnv, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene, refusedBy } from '../../support/agents/scripted-agents.ts';
import { CONTROL_C, DOWN, ENTER, hasScript, onTerminal } from '../../support/terminal.ts';

const area = newArea();
afterAll(() => endAgents(area));

const WORK =
  'printf "1\\n2\\n3\\n$COPSE_TASK_ID\\n" > a.txt; git commit --quiet --all --message="feat: work"';

interface ReviewDocument {
  readonly task: { readonly id: string; readonly status: string };
  readonly agent: string;
  readonly change: {
    readonly head: string;
    readonly inserted: number;
    readonly conflicts: readonly string[];
  };
  readonly before: string | null;
  readonly patch: string;
}

function reviewed(options: Parameters<typeof newScene>[1] = {}): Scene {
  return newScene(area, { sections: { landing: { policy: 'review' } }, ...options });
}

async function inReview(scene: Scene, title = 'Some work', script = WORK, ...options: readonly string[]) {
  const id = await scene.add(title, script, ...options);
  await scene.up();
  expect((await scene.statuses())[title]).toBe('in_review');
  return id;
}

const worktreeOf = (scene: Scene, id: string) => path.join(scene.folder, '.worktrees', id);

/** A person or an agent goes on in the worktree. */
function commitMore(scene: Scene, id: string): string {
  const worktree = worktreeOf(scene, id);
  writeFileSync(path.join(worktree, 'more.txt'), 'more\n');
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: more');
  return git(worktree, 'rev-parse', 'HEAD');
}

const status = async (scene: Scene, id: string) => (await scene.tasks()).get(id)?.status;

describe('copse review', () => {
  test('lists waiting tasks with their agent, their size and their conflicts', async () => {
    const scene = reviewed();
    expect(await printed(['review'], scene.at)).toBe('No task waits for review.\n');
    const id = await inReview(scene, 'Some work', WORK, '--accept', 'true');
    expect(await printed(['review'], scene.at)).toMatch(
      new RegExp(
        `^\\[\\?\\] ${id} IN_REVIEW \\(\\d+s\\) Some work\\n +plain · 1 file, \\+1 -0 · accept commands passed · merges into main without conflicts\\n +→ copse review ${id}\\n$`,
      ),
    );
    const { reviews } = await answer<{ reviews: readonly ReviewDocument[] }>(['review'], scene.at);
    expect(reviews).toMatchObject([
      {
        task: { id },
        agent: 'plain',
        change: { inserted: 1, conflicts: [] },
        accept: { commands: 1, passed: true },
      },
    ]);
    scene.git('commit', '--quiet', '--allow-empty', '--message=else');
    writeFileSync(path.join(scene.folder, 'a.txt'), '1\n2\n3\nelse\n');
    scene.git('commit', '--quiet', '--all', '--message=conflicting');
    expect(await printed(['review'], scene.at)).toContain('conflicts with main: a.txt');
    // Its accept commands ran for another commit.
    commitMore(scene, id);
    expect(await answer(['review'], scene.at)).toMatchObject({
      reviews: [{ accept: { commands: 1, passed: false } }],
    });
  });

  test('says that an accept command failed, not that it did not run', async () => {
    const scene = newScene(area, { policy: { handbacks: { accept: 0 } } });
    const id = await scene.add('fails', WORK, '--accept', 'false');
    await scene.up();
    const text = await printed(['review', id], scene.at);
    expect(text).toMatch(
      /^ +accept +1 command; when the agent stopped: Accept command failed \(exit code 1\): false$/m,
    );
    expect(text).not.toContain('not run for this commit');
  });

  test('shows what would land, the assignment and the ledger, and asks no question in a pipe', async () => {
    const scene = reviewed();
    const script = `${WORK}; copse ledger add learning "Mind the gap"`;
    const id = await inReview(scene, 'Some work', script, '--body', 'As nice as possible');
    // The target goes on, which is no part of what the task changes.
    writeFileSync(path.join(scene.folder, 'b.txt'), 'b\n');
    scene.git('add', 'b.txt');
    scene.git('commit', '--quiet', '--message=b');
    const text = await printed(['review', id], scene.at);
    const branch = `${id}/some-work`;
    const patch = scene.git('diff', '--full-index', `main...${branch}`);
    for (const part of ['As nice as possible', 'learning', 'Mind the gap', 'a.txt', patch])
      expect(text).toContain(part);
    expect(text).not.toContain('b.txt');
    const head = scene.git('rev-parse', branch);
    expect(text).toContain(`→ copse review ${id} --approve --head ${head.slice(0, 10)}\n`);
    const document = await answer<ReviewDocument>(['review', id], scene.at);
    expect(document).toMatchObject({ change: { head }, patch: `${patch}\n` });
    expect(await status(scene, id)).toBe('in_review');
  });

  test('approves exactly the shown commit, which then lands', async () => {
    const scene = reviewed();
    const id = await inReview(scene);
    const head = scene.git('rev-parse', `${id}/some-work`);
    expect(await printed(['review', id, '--approve', '--head', head.slice(0, 8)], scene.at)).toContain(
      `Approved ${id} Some work: ${head.slice(0, 10)} lands on main through the queue\n`,
    );
    expect(await status(scene, id)).toBe('landing');
    expect(await printed(['review', id, '--approve'], scene.at)).toContain(
      `${id} is already in the queue of main at ${head.slice(0, 10)}.\n`,
    );
    await scene.up();
    expect(await status(scene, id)).toBe('done');
    expect(scene.git('show', 'main:a.txt')).toContain(id);
    expect(scene.subjects().at(-1)).toBe('feat: work');
  });

  test('refuses a commit that is no longer there, uncommitted work, and two answers at once', async () => {
    const scene = reviewed();
    const id = await inReview(scene);
    const before = scene.git('rev-parse', `${id}/some-work`);
    const now = commitMore(scene, id);
    expect(await refusedBy(['review', id, '--approve', '--head', before], scene.at)).toContain(
      `is no longer at ${before}: it is at ${now.slice(0, 10)}.`,
    );
    writeFileSync(path.join(worktreeOf(scene, id), 'a.txt'), 'not yet');
    expect(await printed(['review', id], scene.at)).toContain('1 uncommitted file would not land');
    expect(await refusedBy(['review', id, '--approve'], scene.at)).toContain('uncommitted changes');
    const both = await copse(['review', id, '--approve', '--send-back', 'no'], scene.at);
    expect(both).toMatchObject({ code: 2, stdout: '' });
    expect((await copse(['review', '--approve'], scene.at)).code).toBe(2);
    expect(await status(scene, id)).toBe('in_review');
  });
});

describe('a branch that moves after it was approved', () => {
  // promise: reviewed-change-lands
  test('does not land, is in review again with a reason, and lands after a new approval', async () => {
    const scene = reviewed();
    const id = await inReview(scene);
    const main = scene.git('rev-parse', 'main');
    await printed(['review', id, '--approve'], scene.at);
    const head = commitMore(scene, id);
    await scene.up();
    expect(scene.git('rev-parse', 'main')).toBe(main);
    expect(await status(scene, id)).toBe('in_review');
    const sentence = `to ${head.slice(0, 10)} after its review, so it must be reviewed again.`;
    expect(await scene.why(id)).toContain(sentence);
    expect(await answer<ReviewDocument>(['review', id], scene.at)).toMatchObject({
      change: { head },
      before: expect.stringContaining(sentence) as string,
    });
    await printed(['review', id, '--approve', '--head', head], scene.at);
    await scene.up();
    expect(await status(scene, id)).toBe('done');
    expect(scene.subjects().slice(-2)).toEqual(['feat: work', 'feat: more']);
  });

  // promise: reviewed-change-lands
  test('does not land with copse merge either', async () => {
    const scene = reviewed();
    const id = await inReview(scene);
    const main = scene.git('rev-parse', 'main');
    await printed(['review', id, '--approve'], scene.at);
    commitMore(scene, id);
    expect((await copse(['merge', id], scene.at)).code).toBe(4);
    expect(scene.git('rev-parse', 'main')).toBe(main);
    expect(await status(scene, id)).toBe('in_review');
  });

  test('does not land with copse merge --head, which names the commit that was read', async () => {
    const scene = reviewed();
    const id = await inReview(scene);
    const before = scene.git('rev-parse', `${id}/some-work`);
    const now = commitMore(scene, id);
    const refusal = await refusedBy(['merge', id, '--head', before], scene.at);
    expect(refusal).toContain(`is no longer at ${before}: it is at ${now.slice(0, 10)}.`);
    expect(await status(scene, id)).toBe('in_review');
    expect((await copse(['merge', id, '--head', 'main'], scene.at)).code).toBe(2);
    expect(await printed(['merge', id, '--head', now.slice(0, 10)], scene.at)).toContain('Landed');
  });

  test('is approved by another approval, while no orchestrator runs', async () => {
    const scene = reviewed();
    const id = await inReview(scene);
    await printed(['review', id, '--approve'], scene.at);
    const head = commitMore(scene, id);
    expect(await answer(['review', id, '--approve'], scene.at)).toMatchObject({ task: id, head });
    expect(await scene.merge(id)).toContain('Landed');
    expect(scene.subjects().slice(-2)).toEqual(['feat: work', 'feat: more']);
  });

  // promise: commits-reachable
  test('keeps its approval when it is moved back', async () => {
    const scene = reviewed();
    const id = await inReview(scene);
    await printed(['review', id, '--approve'], scene.at);
    const approved = scene.git('rev-parse', `${id}/some-work`);
    git(worktreeOf(scene, id), 'reset', '--quiet', '--hard', 'main');
    await scene.up();
    expect(await status(scene, id)).toBe('in_review');
    expect(await scene.why(id)).toContain('has no commit to land');
    expect(
      scene.git('for-each-ref', '--contains', approved, '--format=%(refname)', 'refs/copse/keep'),
    ).not.toBe('');
  });
});

describe('without review', () => {
  /** Finished, and in the queue, because a file is being edited where the target is checked out. */
  async function waiting() {
    const scene = newScene(area);
    writeFileSync(path.join(scene.folder, 'a.txt'), 'mine\n');
    const id = await scene.add('Some work', WORK);
    await scene.up();
    expect(await status(scene, id)).toBe('landing');
    return { scene, id, free: () => scene.git('checkout', '--quiet', 'a.txt') };
  }

  test('a branch that moves while it is queued lands as it is now, at the same place', async () => {
    const { scene, id, free } = await waiting();
    const head = commitMore(scene, id);
    free();
    expect(await scene.merge(id)).toContain('Landed');
    expect(scene.subjects().slice(-2)).toEqual(['feat: work', 'feat: more']);
    const queue = (await scene.events()).filter(({ type }) =>
      /^landing\.(queued|requeued|landed)$/.test(type),
    );
    expect(queue).toMatchObject([
      { type: 'landing.queued' },
      { type: 'landing.requeued', data: { head } },
      { type: 'landing.landed' },
    ]);
  });

  test('a moved branch with uncommitted changes is left to a person, with the reason', async () => {
    const { scene, id, free } = await waiting();
    commitMore(scene, id);
    const file = path.join(worktreeOf(scene, id), 'unfinished.txt');
    writeFileSync(file, 'not yet');
    free();
    const main = scene.git('rev-parse', 'main');
    await scene.up();
    expect(await status(scene, id)).toBe('in_review');
    expect(await scene.why(id)).toContain('its worktree has uncommitted changes');
    expect(scene.git('rev-parse', 'main')).toBe(main);
    rmSync(file);
    expect(await scene.merge(id)).toContain('Landed');
    expect(scene.subjects().slice(-2)).toEqual(['feat: work', 'feat: more']);
  });

  test('a queued head lands although its branch was deleted, and has a ref until then', async () => {
    const { scene, id, free } = await waiting();
    const branch = `refs/heads/${id}/some-work`;
    const head = scene.git('rev-parse', branch);
    scene.git('worktree', 'remove', '--force', '--force', worktreeOf(scene, id));
    scene.git('update-ref', '-d', branch);
    await copse(['orchestrate', '--once'], scene.at);
    expect(scene.git('for-each-ref', '--contains', head, '--format=%(refname)')).toContain(
      `refs/copse/keep/${id}/`,
    );
    free();
    expect(await scene.merge(id)).toContain('Landed');
    expect(scene.subjects().at(-1)).toBe('feat: work');
  });
});

describe('sending it back', () => {
  test('resumes the agent with the comment, which stays in the ledger', async () => {
    const scene = reviewed();
    const id = await inReview(scene);
    scene.script(id, 'was_told "Please add a test" && note told; commit tested t.txt');
    expect(await printed(['review', id, '--send-back', 'Please add a test'], scene.at)).toContain(
      'Agent "plain" is working on it',
    );
    await scene.up();
    expect(await status(scene, id)).toBe('in_review');
    expect(readFileSync(scene.notes, 'utf8')).toBe('told\n');
    expect(await printed(['show', id], scene.at)).toContain('Review: Please add a test');
    scene.script(
      id,
      'grep --quiet "Review: Please add a test" AGENT_CONTEXT.md && note later; commit again u.txt',
    );
    await printed(['resume', id], scene.at);
    await scene.up();
    expect(readFileSync(scene.notes, 'utf8')).toBe('told\nlater\n');
  });

  test('needs a comment, and an agent that can run here', async () => {
    const scene = reviewed();
    const id = await inReview(scene);
    const empty = await copse(['review', id, '--send-back'], scene.at);
    expect(empty).toMatchObject({ code: 2, stdout: '' });
    expect(empty.stderr).toContain('its agent needs to know what to change');
    const config = path.join(scene.folder, 'copse.yml');
    writeFileSync(config, readFileSync(config, 'utf8').replace('"plain"', '"another"'));
    await answer(['config', 'accept', '--yes'], scene.at);
    expect(await refusedBy(['review', id, '-m', 'Please add a test'], scene.at)).toContain(
      `Cannot send ${id} back: its agent plain is not configured in this repository.`,
    );
    expect(await status(scene, id)).toBe('in_review');
    expect(await printed(['show', id], scene.at)).not.toContain('Please add a test');
  });
});

describe('between the view and the answer', () => {
  async function within<T>(scene: Scene, work: (context: RunContext) => Promise<T>): Promise<T> {
    const run = await openRun({ cwd: scene.folder, env: plainEnv });
    try {
      return await work(run.context);
    } finally {
      await run.close();
    }
  }

  // promise: reviewed-change-lands
  test('a yes counts for the shown commit: a branch that moved in between is not queued', async () => {
    const scene = reviewed();
    const id = brand<TaskId>(await inReview(scene));
    const shownHead = brand<CommitId>(scene.git('rev-parse', `${id}/some-work`));
    commitMore(scene, id);
    const approved = await within(scene, (context) => approve(context, id, shownHead));
    expect(approved).toMatchObject({ kind: 'refused', refusal: { next: [`copse review ${id}`] } });
    expect(await status(scene, id)).toBe('in_review');
  });

  // promise: people-only
  test('a session can neither approve nor send back nor undo', async () => {
    const scene = reviewed();
    const id = brand<TaskId>(await inReview(scene));
    const head = brand<CommitId>(scene.git('rev-parse', `${id}/some-work`));
    const before = (await scene.events()).length;
    const session = { ...scene.at, env: { COPSE_SESSION_ID: 'se-1', COPSE_TOKEN: '1', COPSE_TASK_ID: id } };
    for (const argv of [
      ['review', id, '--approve'],
      ['review', id, '-m', 'no'],
      ['undo', id],
    ])
      expect(await refusedBy(argv, session)).toContain('Session se-1 may not run');
    await within(scene, async (person) => {
      const by = { kind: 'session', session: brand<SessionId>('se-1'), token: fencingToken(1) } as const;
      const context = { ...person, by, reverting: { revert: () => Promise.reject(new Error('not asked')) } };
      const refused = { kind: 'refused', refusal: { code: 'not_this_session' } };
      expect(await approve(context, id, head)).toMatchObject(refused);
      expect(await sendBack(context, id, 'no', [])).toMatchObject(refused);
      expect(await undoLanding(context, id)).toMatchObject(refused);
    });
    expect(await scene.events()).toHaveLength(before);
  });
});

test.skipIf(!hasScript)('on a terminal a person is asked after the pager showed the change', async () => {
  const scene = reviewed();
  const id = await inReview(
    scene,
    'Some work',
    `printf '\\033]0;owned\\007x\\n' > evil.txt; git add --all; ${WORK}`,
  );
  const env = { PAGER: 'tee "$PAGED"', PAGED: path.join(scene.scripts, 'paged') };
  const review = (...keys: readonly (readonly [string, string])[]) =>
    onTerminal(['review', id], scene.folder, keys, env);
  const question = `Approve ${id}?`;
  for (const leave of [CONTROL_C, DOWN + DOWN + ENTER]) await review([question, leave]);
  expect(await status(scene, id)).toBe('in_review');
  const paged = readFileSync(env.PAGED, 'utf8');
  expect(paged).toContain('x1b]0;owned');
  expect(paged).not.toContain('\u001b');

  scene.script(id, 'was_told "Please add a test" && note told; commit tested t.txt');
  await review([question, DOWN + ENTER], ['What should its agent change?', `Please add a test${ENTER}`]);
  await scene.up();
  expect(readFileSync(scene.notes, 'utf8')).toBe('told\n');

  expect(await review([question, ENTER])).toContain(`Approved ${id}`);
  expect(await status(scene, id)).toBe('landing');
});
