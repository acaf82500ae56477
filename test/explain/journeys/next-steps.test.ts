/** `copse why` says what to do: none of the commands that it names is refused. */

import { expect, onTestFinished, test } from 'vitest';

import { answer, copse, git, newArea } from '../../support/cli.ts';
import { commandsIn } from '../../support/pasted.ts';
import { type Scene, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();

interface Why {
  readonly because: readonly string[];
  readonly next: readonly string[];
  readonly task: { readonly status: string };
}

const why = (scene: Scene, id: string) => answer<Why>(['why', id], scene.at);

/** As a person would: pastes one of them. Each needs a task of its own, because it may end that state. */
async function follow(scene: Scene, id: string, index: number): Promise<string | undefined> {
  const { next } = await why(scene, id);
  const command = next[index];
  if (command === undefined) return undefined;
  const names: (string | undefined)[] = [];
  for (const one of command.split(' && ')) {
    const [program, ...argv] = one.split(' ');
    expect(program).toBe('copse');
    names.push(argv[0]);
    // It would start the tasks that the next commands are for.
    if (argv[0] === 'orchestrate') argv.push('--dry-run');
    // At a terminal it asks.
    if (argv[0] === 'delete') argv.push('--yes');
    const { code, stderr } = await copse(argv, scene.at);
    expect({ command, code, stderr }).toMatchObject({ command, code: 0 });
  }
  return names.join(' && ');
}

/** Makes as many tasks in this state as it has commands, and follows another one with each. */
async function followAll(
  scene: Scene,
  status: string,
  ids: readonly string[],
): Promise<readonly (string | undefined)[]> {
  const followed: (string | undefined)[] = [];
  for (const [index, id] of ids.entries()) {
    expect((await why(scene, id)).task.status).toBe(status);
    followed.push(await follow(scene, id, index));
  }
  const [last] = ids.slice(-1);
  // There were enough of them.
  expect(followed.at(-1), `one more ${status} task than commands, at ${last}`).toBeUndefined();
  return followed.slice(0, followed.indexOf(undefined));
}

async function several(count: number, make: (index: number) => Promise<string>): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await make(index));
  return ids;
}

test('of tasks that agents worked on', async () => {
  const scene = newScene(area, {
    agents: { plain: {}, reviewed: { landing: { policy: 'review' } } },
    policy: { max_retries: 0, max_agents: 8, handbacks: { nothing_committed: 0, dirty: 0 } },
  });
  const made = (count: number, script: string, ...options: string[]) =>
    several(count, (index) => scene.add(`${index}`, script.replaceAll('%', String(index)), ...options));
  const plain = ['--agent', 'plain'];
  const stuck = await made(4, 'copse stuck --reason "Which?"', ...plain);
  const failed = await made(5, 'exit 9', ...plain);
  const inReview = await made(5, 'commit r% r%.txt', '--agent', 'reviewed');
  const attention = await made(5, 'true', ...plain);
  const landed = await made(4, 'commit l% l%.txt', ...plain);
  const nothing = await made(3, 'copse finish --no-changes', ...plain);
  await copse(['orchestrate', '--until-idle'], scene.at);
  // What follows may start them again.
  for (const id of [...stuck, ...failed, ...inReview, ...attention, ...landed, ...nothing])
    scene.script(id, 'copse stuck --reason "Again?"');
  expect(await followAll(scene, 'stuck', stuck)).toEqual(['restart', 'work', 'cancel']);
  expect(await followAll(scene, 'failed', failed)).toEqual(['restart', 'work', 'logs', 'cancel']);
  expect(await followAll(scene, 'in_review', inReview)).toEqual(['review', 'merge', 'resume', 'cancel']);
  expect(await followAll(scene, 'needs_attention', attention)).toEqual([
    'resume',
    'work',
    'work && finish',
    'cancel',
  ]);
  expect(await followAll(scene, 'done', landed)).toEqual(['resume', 'undo', 'delete']);
  expect(await followAll(scene, 'done', nothing)).toEqual(['resume', 'delete']);
});

test('of tasks that wait, that a person has, and that are over', async () => {
  const scene = newScene(area);
  const three = (...options: string[]) => several(4, (index) => scene.add(`${index}`, 'true', ...options));
  const [first = ''] = await three();
  expect(await followAll(scene, 'pending', await three('--depends', first))).toEqual([
    'why',
    'edit',
    'cancel',
  ]);
  expect(await followAll(scene, 'ready', await three())).toEqual(['orchestrate', 'work', 'cancel']);
  const byHand = await three();
  for (const id of byHand) {
    const { worktree } = await answer<{ worktree: string }>(['work', id], scene.at);
    git(worktree, 'commit', '--quiet', '--allow-empty', '--message=feat: x');
  }
  expect(await followAll(scene, 'in_progress', byHand)).toEqual(['finish', 'pause', 'cancel']);
  const paused = await three();
  for (const id of paused) {
    await answer(['work', id], scene.at);
    await answer(['pause', id], scene.at);
  }
  expect(await followAll(scene, 'paused', paused)).toEqual(['resume', 'work', 'cancel']);
  const cancelled = await three();
  for (const id of cancelled) await answer(['cancel', id], scene.at);
  await scene.add('waits', 'true', '--depends', cancelled[0] ?? '');
  expect((await why(scene, cancelled[0] ?? '')).next).toEqual([`copse delete ${cancelled[0]} --unlink`]);
  expect(await followAll(scene, 'cancelled', cancelled.slice(0, 2))).toEqual(['delete']);
});

test('of tasks in the queue, and of tasks with a running agent', async () => {
  const scene = newScene(area, { policy: { max_agents: 8 } });
  await answer(['queue', 'pause'], scene.at);
  const queued = await several(2, (index) => scene.add(`q${index}`, `commit q${index} q${index}.txt`));
  const running = await several(4, (index) => scene.add(`r${index}`, 'copse stuck --reason "Which?"'));
  await copse(['orchestrate', '--until-idle'], scene.at);
  const [first = '', second = ''] = queued;
  expect(await follow(scene, second, 1)).toBe('cancel');
  expect((await why(scene, first)).next).toEqual(['copse queue resume', `copse cancel ${first}`]);
  expect(await follow(scene, first, 0)).toBe('queue');
  for (const id of running) {
    scene.script(id, 'echo at work; while :; do sleep 0.1; done');
    await answer(['restart', id], scene.at);
  }
  onTestFinished(async () => {
    for (const id of running) await copse(['cancel', id], scene.at);
  });
  for (const id of running)
    await expect.poll(async () => (await copse(['logs', id], scene.at)).stdout, WAIT).toContain('at work');
  expect(await followAll(scene, 'in_progress', running)).toEqual(['logs', 'pause', 'cancel']);
});

const WAIT = { timeout: 30_000, interval: 200 };

test('of a landing that was undone names no second undo', async () => {
  const scene = newScene(area);
  const id = await scene.add('one', 'commit one one.txt');
  await scene.up();
  await answer(['undo', id], scene.at);
  expect((await why(scene, id)).next).toEqual([`copse resume ${id}`, `copse delete ${id}`]);
});

test('of a task whose worktree is there names the move of files into it, and the move is done', async () => {
  const scene = newScene(area, { sections: { landing: { policy: 'review' } } });
  const id = await scene.add('astray', `commit one one.txt; echo astray > '${scene.folder}/astray.txt'`);
  await scene.up();
  const { because } = await why(scene, id);
  expect(because).toContain(`To move the change into its worktree: copse rescue move ${id}`);
  expect((await copse(['rescue', 'move', id], scene.at)).stdout).toContain('moved  astray.txt');
  expect((await why(scene, id)).because.join('\n')).not.toContain('copse rescue move');
});

test('of a done task does not name a worktree that is gone, and the refusal of a move names nothing refused', async () => {
  const scene = newScene(area);
  const id = await scene.add('astray', `commit one one.txt; echo astray > '${scene.folder}/astray.txt'`);
  await scene.up();
  const { because, next } = await why(scene, id);
  expect(because.join('\n')).toContain('astray.txt');
  expect([...because, ...next].join('\n')).not.toContain('rescue move');
  const moved = await copse(['rescue', 'move', id], scene.at);
  expect(moved.code).not.toBe(0);
  expect(moved.stderr).not.toContain('copse work');
  for (const command of ['diff', 'sync']) {
    const { stderr } = await copse([command, id], scene.at);
    expect(stderr).toMatch(
      new RegExp(`^copse: ${id} has no worktree any longer: it landed as [0-9a-f]{10}\\.\n`),
    );
    const [show = '', undo] = commandsIn(stderr);
    expect(git(scene.folder, ...show.split(' ').slice(1))).toContain('one.txt');
    expect(undo).toBe(`copse undo ${id} --worktree`);
  }
});

test('where no agent can go on, names the way by hand', async () => {
  const scene = newScene(area, { agents: { plain: {} } });
  const ids = await several(5, (index) => scene.add(`${index}`, 'true', '--requires', 'gpu'));
  expect(await followAll(scene, 'ready', ids)).toEqual(['edit', 'agents', 'work', 'cancel']);
});

test('of a refused resume are allowed: its worktree is there, and no agent may take it', async () => {
  const scene = newScene(area, { agents: { plain: {} } });
  const id = await scene.add('by hand', 'true', '--requires', 'gpu');
  await answer(['work', id], scene.at);
  await answer(['pause', id], scene.at);
  const { code, stderr } = await copse(['resume', id], scene.at);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining(`copse work ${id} --resume`) as string,
  });
  await answer(['work', id, '--resume'], scene.at);
});
