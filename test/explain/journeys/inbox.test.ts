/** `copse inbox`: what needs a person, one by one, each answered with a key or a line. */

import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, describe, expect, test } from 'vitest';

import { decideSession } from '../../../packages/copse/src/agents/rules/session/session.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import { inReview, reviewed, stuck } from '../../support/agents/needs.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { answer, copse, newArea, printed } from '../../support/cli.ts';
import { startSession } from '../../support/records/sessions.ts';
import { hasScript, onTerminal } from '../../support/terminal.ts';
import { typedInside } from '../../support/terminal-inside.ts';
import { newProject, openForTest } from '../../support/workspaces/workspaces.ts';

const area = newArea();
afterAll(() => endAgents(area));

describe('without a terminal', () => {
  test('prints the list, the one that unblocks most first, with the commands; and JSON', async () => {
    const scene = newScene(area, reviewed);
    const first = await stuck(scene, 'Old', 'Which?\nA or B?');
    const second = await inReview(scene, 'New');
    await scene.add('Waits', 'true', '--depends', second);
    const text = await printed(['inbox'], scene.at);
    const lines = text.split('\n');
    expect(lines[0]).toMatch(new RegExp(`^${second} waits for your review \\(.*unblocks 1 task\\): New$`));
    expect(text).toContain(`→ copse review ${second} --approve`);
    expect(text).toContain(`→ copse restart ${first} --answer "…"`);
    const { needsYou } = await answer<{ needsYou: { task: string; kind: string; since: string }[] }>(
      ['inbox'],
      scene.at,
    );
    expect(needsYou.map(({ task, kind }) => [task, kind])).toEqual([
      [second, 'review'],
      [first, 'question'],
    ]);
    expect(needsYou[0]?.since).toMatch(/^\d{4}-.*Z$/);
  });

  test('says that nothing needs the person', async () => {
    expect(await printed(['inbox'], newScene(area).at)).toBe('Nothing needs you now.\n  → copse status\n');
  });
});

describe('at a terminal', () => {
  test('a line answers a stuck agent, a key approves; the end says what comes next', async () => {
    const scene = newScene(area, reviewed);
    const asks = await stuck(scene, 'Asks', 'Drop the old table?');
    scene.script(asks, 'was_told "Keep both" && copse finish --no-changes');
    const waits = await inReview(scene, 'Waits');
    const screen = await typedInside(['inbox'], scene.at, [
      ['Drop the old table?', 't'],
      ['Your answer to the agent:', 'Keep both\r'],
      ['waits for your review', 'a'],
      ['any other key does it now', 'q'],
    ]);
    expect(screen).toContain(`Done: ${asks} restarted with your answer.`);
    expect(screen).toContain(`Done: ${waits} approved, queued to land.`);
    expect(screen).toContain('2 answered. Nothing needs you now.');
    expect(screen).toMatch(/→ copse orchestrate\s*$/);
    await expect
      .poll(async () => (await scene.tasks()).get(asks)?.status, { timeout: 60_000, interval: 200 })
      .toBe('done');
    expect((await scene.tasks()).get(waits)?.status).toBe('landing');
  });

  test('u drops an answer that is held, and takes an approval out of the queue again', async () => {
    const scene = newScene(area, reviewed);
    const one = await inReview(scene, 'One');
    const other = await inReview(scene, 'Other');
    const screen = await typedInside(['inbox'], scene.at, [
      [`${one} waits`, 'a'],
      [`${other} waits`, 'u'],
      // Nothing was done: it is asked again.
      [`${one} waits`, 'a'],
      // Another key does it; then it is taken out of the queue.
      [`${other} waits`, 'w'],
      ['u undo', 'u'],
      [`${one} waits for your review`, 'u'],
      ['There is no answer to undo', 'q'],
    ]);
    expect(screen).toContain(`Taken back: ${one} still waits for you.`);
    expect(screen).toContain(`Done: ${one} approved, queued to land.`);
    expect(screen).toContain(`Undone: ${one} waits for you again.`);
    expect(screen).toContain('0 answered. 2 tasks still need you.\n  → copse inbox');
    expect([...(await scene.tasks()).values()].map(({ status }) => status)).toEqual([
      'in_review',
      'in_review',
    ]);
  });

  test('u says why an answer cannot be undone, with the command that helps', async () => {
    const scene = newScene(area, reviewed);
    const id = await stuck(scene, 'Not "needed"', 'Which?');
    await inReview(scene, 'Other');
    const screen = await typedInside(['inbox'], scene.at, [
      [`${id} asks`, 'c'],
      ['waits for your review', 'w'],
      ['u undo', 'u'],
      ['stays cancelled', 's'],
    ]);
    expect(screen).toContain(`Done: ${id} cancelled.`);
    expect(screen).toContain(`→ copse add 'Not "needed"'`);
    expect(screen).toContain('1 answered, 1 skipped. 1 task still needs you.');
  });

  test('what is answered elsewhere is skipped, what comes meanwhile is appended', async () => {
    const scene = newScene(area, reviewed);
    const first = await inReview(scene, 'First');
    const second = await inReview(scene, 'Second');
    let third = '';
    const screen = await typedInside(['inbox'], scene.at, [
      [
        `${first} waits`,
        async () => {
          await answer(['cancel', first], scene.at);
          await answer(['cancel', second], scene.at);
          third = await stuck(scene, 'Third', 'What now?');
          return 'a';
        },
      ],
      ['What now?', 'q'],
    ]);
    expect(screen).toContain(`${first} was answered elsewhere: it is cancelled.`);
    expect(screen).toContain(`${second} was answered elsewhere: it is cancelled.`);
    expect(screen).toContain(`${third} asks for a decision`);
    expect((await scene.tasks()).get(first)?.status).toBe('cancelled');
  });

  test('a key that means nothing, a paste and an empty line change nothing', async () => {
    const scene = newScene(area, reviewed);
    const id = await inReview(scene, 'Safe');
    await typedInside(['inbox'], scene.at, [
      [`${id} waits`, 'x'],
      ['No such key', 'approve it'],
      ['No such key', '\u001b[A'],
      ['No such key', 't'],
      ['What should the agent change?', '\r'],
      ['q quit', 'd'],
      ['+x', 'q'],
    ]);
    expect((await scene.tasks()).get(id)?.status).toBe('in_review');
  });

  /** The same key at once would count as held down. */
  const afterRepeats = () => sleep(600, 'y');

  test('y answers exactly the question that was shown', async () => {
    const project = await openForTest(newProject(path.join(area, 'asking')));
    const { context } = project;
    const agent = await startSession(project, await project.addTask('Builds'));
    const ask = async (what: string) =>
      change(context, async (change) => {
        const session = await change.require('session', agent.session);
        const question = { id: `qu-${what.length}`, tool: 'Bash', what };
        await change.apply(decideSession(session, { action: 'ask', question }, change.at));
      });
    await ask('rm -rf /');
    const at = { cwd: project.folder };
    const elsewhere = async () => {
      await answer(['answer', agent.task, 'deny'], at);
      await ask('rm -rf build');
      return 'y';
    };
    const screen = await typedInside(['inbox'], at, [
      ['rm -rf /', elsewhere],
      ['rm -rf build', afterRepeats],
      ['any other key does it now', 'q'],
    ]);
    expect(screen).toContain(`${agent.task} was answered elsewhere`);
    expect(screen).toContain('asks for permission (');
    expect(screen).toContain('coder');
    expect(screen).toContain(`Done: ${agent.task} allowed.`);
    const { question } = (await context.board.get('session', agent.session)) ?? {};
    expect(question).toMatchObject({ what: 'rm -rf build', answer: { isAllowed: true } });
  });

  test.skipIf(!hasScript)('real keys at a real terminal (needs script of util-linux)', async () => {
    const scene = newScene(area, reviewed);
    const id = await inReview(scene, 'Real');
    const screen = await onTerminal(['inbox'], scene.folder, [['waits for your review', 's']]);
    expect(screen).toContain('0 answered, 1 skipped. 1 task still needs you.');
    const approved = await onTerminal(['inbox'], scene.folder, [
      ['waits for your review', 'a'],
      ['any other key does it now', 'q'],
    ]);
    expect(approved).toContain(`Done: ${id} approved`);
    expect((await copse(['inbox'], scene.at)).stdout).toContain('Nothing needs you now.');
  });
});
