/** `copse watch` on a real terminal: its keys answer, and it leaves the terminal as it was, however it ends. */

import { readFileSync, renameSync } from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { cliFile, copse, newArea, newRepository, newTasks } from '../../../support/cli.ts';
import { recorderOf } from '../../../support/agents/asking.ts';
import { endAgents, newScene } from '../../../support/agents/scripted-agents.ts';
import { type Pane, Panes, hasTmux } from '../../../support/watch/pane.ts';
import { startSession } from '../../../support/records/sessions.ts';
import { newProject, openForTest } from '../../../support/workspaces/workspaces.ts';

const area = newArea();
afterAll(() => endAgents(area));

const isGuard = (words: readonly string[]) => words.includes(cliFile) && words[0] === 'sh';
const isWatch = (words: readonly string[]) => words.includes(cliFile) && words[0] !== 'sh';
/** A pager that leaves the terminal in the worst state. */
const PAGER = `exec 3</dev/tty; stty -a <&3 >> "$SETTINGS"; echo >> "$SETTINGS"; stty raw -echo <&3
printf "\\033[?1049h\\033[?25l"; exec sleep 600`;
/** Throws at a signal, outside of everything that catches. */
const PANIC = "--import=data:text/javascript,process.on('SIGUSR2',()=>{throw(new(Error)('a%20panic'))})";

describe.skipIf(!hasTmux || process.platform !== 'linux')('on a terminal', () => {
  const panes = hasTmux ? new Panes(area) : undefined;

  function start(
    folder: string,
    size: readonly [number, number],
    variables: Readonly<Record<string, string>> = {},
  ): Pane {
    const pane = panes!.open(folder, size, { NODE: process.execPath, CLI: cliFile, ...variables });
    pane.type('"$NODE" "$CLI" watch; echo "ended with $?"\n');
    return pane;
  }

  test('keys answer, approve, filter, show and quit, without an id; a new size is drawn', async () => {
    const scene = newScene(area, { sections: { landing: { policy: 'review' } } });
    const asks = await scene.add(
      'asks',
      'if was_told "one decimal"; then commit asks asks.txt; else copse stuck --reason "Round, or one decimal?"; fi',
      '--priority',
      'p5',
    );
    const done = await scene.add('is done', 'commit done done.txt');
    await scene.up();
    const SETTINGS = path.join(area, 'settings of the terminal');
    const pane = start(scene.folder, [80, 24], { PAGER, SETTINGS });
    await pane.until(
      (lines) => lines.join('\n').includes('NEEDS YOU (2)') && lines.at(-1)!.endsWith('q quit'),
    );
    expect(pane.modes()).toEqual({ isAlternate: true, isCursorVisible: false });

    pane.type('/asks');
    await pane.until(
      (lines) => lines.join('\n').includes('NEEDS YOU (1)') && lines.join('\n').includes(`▸ ? ${asks}`),
    );
    pane.press('Enter', 'Enter');
    await pane.until(
      (lines) => lines[0] === `copse why ${asks}` && lines.join('\n').includes('Round, or one decimal?'),
    );
    pane.press('q');
    await pane.until((lines) => lines.at(-1)!.startsWith('a answer'));
    pane.press('a');
    await pane.untilText('Answer:');
    pane.type('one decimal');
    pane.press('Enter');
    // The filter hides the other one, which still needs a person.
    await pane.until(
      (lines) => lines.join('\n').includes('1 needs you') && !lines.join('\n').includes('NEEDS YOU ('),
    );
    pane.press('Escape');
    await pane.untilText(`? ${done}`);
    pane.press('Home');
    await pane.untilText(`▸ ? ${done}`);
    pane.press('w');
    await pane.untilText(`.worktrees/${done}`);
    for (let turn = 0; turn < 2; turn += 1) {
      pane.press('d');
      const pager = await pane.pidOf((words) => words[0] === 'sleep' && words[1] === '600');
      process.kill(pager, 'SIGKILL');
      await pane.untilText('Any key goes back');
      pane.press('x');
      await pane.until((lines) => lines.at(-1)!.startsWith('A approve'));
    }
    // The second pager found the terminal as the first one did.
    const [first, second] = readFileSync(SETTINGS, 'utf8').split('\n\n');
    expect(first).toContain('speed');
    expect(second).toBe(first);
    pane.press('A');
    await pane.untilText('Approved');
    // The other one is finished by its agent and comes to review, as an event.
    await pane.until(
      (lines) =>
        lines.some((line) => line.includes(`? ${asks}`)) && lines.join('\n').includes('NEEDS YOU (1)'),
    );
    pane.resize(120, 40);
    const wide = await pane.until((lines) => lines.length === 40 && lines.at(-1)!.includes('q quit'));
    expect(wide).toContain('─'.repeat(120));
    pane.press('q');
    await pane.untilText('ended with 0');
    expect(pane.modes()).toEqual({ isAlternate: false, isCursorVisible: true });
    expect(pane.picture().join('\n')).not.toContain('NEEDS YOU');
    expect(await scene.statuses()).toEqual({ asks: 'in_review', 'is done': 'landing' });
  });

  test('a permission is denied with a message, after the whole question was shown', async () => {
    const project = await openForTest(newProject(path.join(area, 'permission')));
    const agent = await startSession(project, await project.addTask('Tidy up'));
    const recorder = await recorderOf(project, agent);
    const heard = recorder.mayUse(
      { tool: 'Bash', what: 'rm -rf "build"\nand more' },
      new AbortController().signal,
    );
    const pane = start(project.folder, [80, 24]);
    await pane.untilText('NEEDS YOU (1)');
    pane.press('a');
    const asked = await pane.until((lines) => lines.at(-1)!.startsWith('y allow'));
    expect(asked.slice(-4, -1)).toEqual([
      `${agent.task} Tidy up: its agent asks to use Bash`,
      '  rm -rf "build"',
      '  and more',
    ]);
    pane.press('N');
    await pane.untilText('Deny, and say:');
    pane.type('keep it');
    pane.press('Enter');
    expect(await heard).toMatchObject({ isAllowed: false, message: 'keep it' });
    await pane.until((lines) => !lines.join('\n').includes('NEEDS YOU'));
    pane.press('q');
    await pane.untilText('ended with 0');
  });

  // promise: terminal-restored
  test('the terminal is as it was after SIGKILL, an unexpected error, Ctrl+C, SIGTERM and SIGHUP', async () => {
    const folder = newRepository(area);
    await newTasks(['one'], { cwd: folder });
    const pane = panes!.open(folder, [80, 24], {
      NODE: process.execPath,
      CLI: cliFile,
      NODE_OPTIONS: PANIC,
      NO_COLOR: '1',
    });
    await pane.untilText('$');
    const before = await pane.settings();
    const send = (signal: NodeJS.Signals) => (pid: number) => Promise.resolve(process.kill(pid, signal));
    const ends = [
      { how: send('SIGKILL'), says: 'ended by signal 9', code: 137 },
      { how: send('SIGUSR2'), says: 'Error: a panic', code: 1 },
      { how: () => Promise.resolve(pane.press('C-c')), says: '', code: 0 },
      // The process that a person's shell knows is the guard; it passes the signal on.
      { how: async () => send('SIGTERM')(await pane.pidOf(isGuard)), says: '', code: 0 },
      { how: send('SIGHUP'), says: '', code: 0 },
    ];
    for (const [turn, { how, says, code }] of ends.entries()) {
      pane.type(`clear; "$NODE" "$CLI" watch; echo "end ${turn} with $?"\n`);
      await pane.until((lines) => lines.at(-1)!.includes('q quit'));
      expect(pane.modes().isAlternate).toBe(true);
      expect(pane.coloured()).not.toMatch(/\u001b\[\d+m/);
      await how(await pane.pidOf(isWatch));
      const lines = await pane.until((all) => all.some((line) => line.startsWith(`end ${turn} with `)));
      expect(lines.find((line) => line.startsWith('end '))).toBe(`end ${turn} with ${code}`);
      expect(lines.join('\n')).toContain(says);
      expect(pane.modes()).toEqual({ isAlternate: false, isCursorVisible: true });
      await expect.poll(() => pane.settings(), { timeout: 10_000 }).toBe(before);
    }
  });

  // promise: terminal-restored
  test.each([
    { command: 'list', shows: 'Active (1)', isAlternate: true },
    { command: 'queue', shows: 'the queue is empty', isAlternate: false },
  ])('the terminal is as it was after $command --watch, also after SIGKILL', async (view) => {
    const { command, shows, isAlternate } = view;
    const folder = newRepository(area);
    await newTasks(['one'], { cwd: folder });
    const pane = panes!.open(folder, [60, 10], { NODE: process.execPath, CLI: cliFile });
    await pane.untilText('$');
    const before = await pane.settings();
    const ends = [
      { how: (pid: number) => void process.kill(pid, 'SIGKILL'), code: 137 },
      { how: () => pane.press('q'), code: 0 },
    ];
    for (const [turn, { how, code }] of ends.entries()) {
      pane.type(`clear; "$NODE" "$CLI" ${command} --watch; echo "end ${turn} with $?"\n`);
      await pane.untilText(shows);
      // The text of the turn before may still be there.
      await expect
        .poll(() => pane.modes(), { timeout: 20_000 })
        .toEqual({ isAlternate, isCursorVisible: false });
      // Keys that mean nothing are not written over the view.
      pane.type('xyz');
      how(await pane.pidOf(isWatch));
      await pane.untilText(`end ${turn} with ${code}`);
      expect(pane.modes()).toEqual({ isAlternate: false, isCursorVisible: true });
      await expect.poll(() => pane.settings(), { timeout: 10_000 }).toBe(before);
    }
  });

  test('a board that goes away is said, and shown again when it comes back', async () => {
    const folder = newRepository(area);
    await newTasks(['one'], { cwd: folder });
    const pane = start(folder, [80, 24]);
    await pane.untilText('READY (1)');
    const backup = await copse(['board', 'backup'], { cwd: folder });
    expect(backup.code).toBe(0);
    renameSync(`${folder}/.copse/board.db`, `${folder}/.copse/away.db`);
    await pane.untilText('The board cannot be read');
    expect(pane.picture().join('\n')).toContain('READY (1)');
    renameSync(`${folder}/.copse/away.db`, `${folder}/.copse/board.db`);
    await pane.until((lines) => !lines.join('\n').includes('cannot be read'));
    await newTasks(['two'], { cwd: folder });
    await pane.untilText('READY (2)');
    pane.press('q');
    await pane.untilText('ended with 0');
  });
});

test('without a terminal it says so and prints copse status', async () => {
  const folder = newRepository(area);
  await newTasks(['one'], { cwd: folder });
  const { code, stdout, stderr } = await copse(['watch'], { cwd: folder });
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'copse watch needs a terminal; showing copse status instead.\n',
  });
  const withoutAges = (text: string) => text.replaceAll(/\d+s /g, '');
  expect(withoutAges(stdout)).toBe(withoutAges((await copse(['status'], { cwd: folder })).stdout));
});
