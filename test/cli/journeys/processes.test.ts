/**
 * Every command once as the built program in a process of its own. The other journeys call `main` inside the test's process;
 * what may differ is what this one finds out: the bundle, the streams and the exit code.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  type Finished,
  type RunOptions,
  answer,
  copse,
  copseProcess,
  finished,
  git,
  newArea,
  newRepository,
  printed,
  startCopse,
} from '../../support/cli.ts';
import { runnableCommands } from '../../support/command-tree.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

let scene: Scene;
/** A task without anything, one that a person works on, and one whose work waits to be reviewed. */
let [idle, taken, reviewed, plan, rescue, exported] = ['', '', '', '', '', ''];

beforeAll(async () => {
  scene = newScene(area, { sections: { landing: { policy: 'review' } } });
  plan = (await answer<{ id: string }>(['plan', 'add', 'Plan'], scene.at)).id;
  idle = await scene.add('Idle', 'true');
  taken = await scene.add('Taken', 'true');
  const { worktree } = await answer<{ worktree: string }>(['work', taken], scene.at);
  writeFileSync(path.join(worktree, 'new.txt'), 'new\n');
  const removed = await answer<{ removed: { rescue: string }[] }>(['cleanup', taken, '--force'], scene.at);
  rescue = removed.removed[0]?.rescue ?? '';
  reviewed = await scene.add('Reviewed', 'true');
  const work = await answer<{ worktree: string }>(['work', reviewed], scene.at);
  writeFileSync(path.join(work.worktree, 'work.txt'), 'done\n');
  git(work.worktree, 'add', '--all');
  git(work.worktree, 'commit', '--quiet', '--message=feat: work');
  await answer(['finish', reviewed], scene.at);
  exported = await printed(['export'], scene.at);
});

/** The launcher says on standard input what changed since the build. */
test.each([
  ['a change', '/src/cli.ts\n', { code: 75, stdout: '' }],
  ['none', '', { code: 0, stdout: expect.stringContaining('Idle') as string }],
])('a command that hears from the launcher of %s', async (_, changed, expected) => {
  const env = { ...scene.at.env, COPSE_CHANGED: 'stdin' };
  const found = await copseProcess(['list'], { ...scene.at, env, stdin: changed });
  expect(found).toMatchObject({ ...expected, stderr: '' });
});

/** Those that only look: the same words and the same end, whichever way. */
const looking: readonly (readonly [command: string, argv: () => readonly string[], code?: number])[] = [
  ['show', () => ['show', idle]],
  ['list', () => ['list']],
  ['plan show', () => ['plan', 'show', plan]],
  ['plan list', () => ['plan', 'list', '--json']],
  ['ledger list', () => ['ledger', 'list', '--task', idle]],
  ['artifact list', () => ['artifact', 'list', reviewed]],
  ['artifact show', () => ['artifact', 'show', 'ar-none'], 3],
  ['artifact get', () => ['artifact', 'get', 'ar-none'], 3],
  ['events', () => ['events', '--json']],
  ['export', () => ['export']],
  ['worktrees', () => ['worktrees', '--json']],
  ['diff', () => ['diff', reviewed]],
  ['rescue list', () => ['rescue', 'list']],
  ['rescue show', () => ['rescue', 'show', rescue]],
  ['agents', () => ['agents']],
  ['cost', () => ['cost', '--json']],
  ['stats', () => ['stats', '--json']],
  ['logs', () => ['logs', idle], 3],
  ['radar', () => ['radar']],
  ['review', () => ['review', reviewed]],
  ['why', () => ['why', idle]],
  ['status', () => ['status']],
  ['inbox', () => ['inbox']],
  ['queue', () => ['queue']],
  ['config', () => ['config']],
  ['doctor', () => ['doctor', '--json']],
  ['completion', () => ['completion', 'bash']],
  ['shell-init', () => ['shell-init', 'bash']],
  ['switch', () => ['switch', reviewed]],
  ['help', () => ['help', 'states']],
  ['schedule list', () => ['schedule', 'list']],
  ['schedule show', () => ['schedule', 'show', 'nightly'], 3],
  ['jobs', () => ['jobs', '--json']],
  ['jobs show', () => ['jobs', 'show', 'jb-none'], 3],
  ['sources list', () => ['sources', 'list']],
  ['sources show', () => ['sources', 'show', 'todo'], 3],
  ['sources sync', () => ['sources', 'sync'], 3],
  ['node list', () => ['node', 'list', '--json']],
  ['node show', () => ['node', 'show', 'desk'], 3],
  ['attach', () => ['attach', idle], 3],
  ['watch', () => ['watch']],
];

/** In this order, each on what the ones before have left. */
const acting: readonly (readonly [
  command: string,
  argv: () => readonly string[],
  expected?: { readonly code?: number; readonly at?: () => RunOptions },
])[] = [
  ['add', () => ['add', 'Another']],
  ['edit', () => ['edit', idle, '--title', 'Still idle']],
  ['plan add', () => ['plan', 'add', 'Another plan', '--body-file', '-']],
  ['ledger add', () => ['ledger', 'add', 'learning', 'Something', '--task', idle]],
  ['artifact add', () => ['artifact', 'add', 'https://example.invalid/', '--task', idle]],
  ['undo', () => ['undo', taken]],
  ['rescue restore', () => ['rescue', 'restore', rescue]],
  ['rescue move', () => ['rescue', 'move', taken], { code: 4 }],
  ['sync', () => ['sync', taken]],
  ['work', () => ['work', taken, '--resume']],
  ['phase', () => ['phase', 'working', taken]],
  ['heartbeat', () => ['heartbeat', taken]],
  ['notify', () => ['notify', 'idle', taken]],
  ['hook', () => ['hook', 'stop']],
  ['stuck', () => ['stuck', taken, '--reason', 'Which one?']],
  ['answer', () => ['answer', taken], { code: 4 }],
  ['finish', () => ['finish', idle], { code: 4 }],
  ['resume', () => ['resume', idle], { code: 4 }],
  ['restart', () => ['restart', idle], { code: 4 }],
  ['pause', () => ['pause', idle], { code: 4 }],
  ['take-over', () => ['take-over', idle], { code: 4 }],
  ['give-back', () => ['give-back', idle]],
  ['queue pause', () => ['queue', 'pause']],
  ['queue resume', () => ['queue', 'resume']],
  ['queue front', () => ['queue', 'front', idle], { code: 4 }],
  ['queue cancel', () => ['queue', 'cancel', idle], { code: 4 }],
  ['queue retry', () => ['queue', 'retry', idle], { code: 4 }],
  ['merge', () => ['merge', reviewed]],
  ['cleanup', () => ['cleanup', taken, '--force']],
  ['sweep', () => ['sweep']],
  ['tend', () => ['tend']],
  ['move', () => ['move', idle, '--to', 'desk'], { code: 3 }],
  ['schedule run', () => ['schedule', 'run', 'nightly'], { code: 3 }],
  ['schedule pause', () => ['schedule', 'pause', 'nightly'], { code: 3 }],
  ['schedule resume', () => ['schedule', 'resume', 'nightly'], { code: 3 }],
  ['trigger', () => ['trigger', 'plain', '--prompt', 'Look']],
  ['node drain', () => ['node', 'drain', 'desk'], { code: 3 }],
  ['node resume', () => ['node', 'resume', 'desk'], { code: 3 }],
  ['node leave', () => ['node', 'leave', 'desk'], { code: 3 }],
  ['node rename', () => ['node', 'rename', 'desk', 'lab'], { code: 3 }],
  ['board backup', () => ['board', 'backup']],
  ['board restore', () => ['board', 'restore']],
  ['board rebuild', () => ['board', 'rebuild']],
  ['board migrate', () => ['board', 'migrate', '--to', 'sqlite'], { code: 2 }],
  ['cancel', () => ['cancel', idle]],
  ['delete', () => ['delete', idle, '--unlink', '--yes']],
  ['orchestrate', () => ['orchestrate', '--once']],
  ['import', () => ['import', '-'], { at: () => ({ cwd: newRepository(area), stdin: exported }) }],
  ['init', () => ['init'], { at: () => ({ cwd: newRepository(area) }) }],
];

/** They have a file of their own, in which they are processes as well. */
const ELSEWHERE = ['demo', 'mcp', 'serve'];

test('every command has a case here', () => {
  const known = [...looking, ...acting].map(([command]) => command);
  expect([...known, ...ELSEWHERE].toSorted()).toEqual([...runnableCommands().keys()].toSorted());
});

describe('copse tend', () => {
  test('does not change the priority of a process that runs it inside', async () => {
    const before = getPriority();
    await printed(['tend'], scene.at);
    expect(getPriority()).toBe(before);
  });

  test.runIf(process.platform === 'linux')('has a low priority as a process of its own', async () => {
    const child = startCopse(['tend'], scene.at);
    let fields: readonly string[];
    // While this waits, Node.js does not take note of the end, so that the system still has what is looked for.
    do {
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
      fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    } while (fields[0] !== 'Z' && fields[16] !== '10');
    expect(fields[16]).toBe('10');
    await finished(child);
  });
});

describe('as a process', () => {
  const lookingCases = looking.map(([command, argv, code = 0]) => ({ command, argv, code }));
  test.each(lookingCases)('$command prints the same as inside the test’s process', async ({ argv, code }) => {
    const inside = await copse(argv(), scene.at);
    expect(ageless(await copseProcess(argv(), scene.at))).toEqual(ageless(inside));
    expect(inside).toMatchObject({ code });
  });

  const actingCases = acting.map(([command, argv, options = {}]) => ({ command, argv, options }));
  test.each(actingCases)('$command', async ({ argv, options: { code = 0, at = () => scene.at } }) => {
    const ended = await copseProcess(argv(), at());
    expect(ended).toMatchObject({ code });
    expect(ended.stderr === '').toBe(code === 0);
  });
});

/** How long ago something was is not the same a moment later. */
function ageless({ stdout, ...rest }: Finished): Finished {
  return { ...rest, stdout: stdout.replaceAll(/ *\b\d+[sm]\b/g, ' a while') };
}
