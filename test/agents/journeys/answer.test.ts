/** An agent that asks for permission waits for a person: where that shows, and how it is answered. */

import { setTimeout as sleep } from 'node:timers/promises';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { change } from '../../../packages/copse/src/board/context.ts';
import { decideSession } from '../../../packages/copse/src/agents/rules/session/session.ts';
import { recorderOf } from '../../support/agents/asking.ts';
import { answer, copse, newArea, printed } from '../../support/cli.ts';
import { type AgentSession, startSession } from '../../support/records/sessions.ts';
import { must } from '../../support/records/tasks.ts';
import { type Project, newProject, openForTest } from '../../support/workspaces/workspaces.ts';

const area = newArea();
let projects = 0;

interface Asking extends AgentSession {
  readonly project: Project;
  /** As a person at the repository. */
  readonly here: { readonly cwd: string };
}

async function newSession(): Promise<Asking> {
  projects += 1;
  const project = await openForTest(newProject(path.join(area, `it's "projekt" ${projects}`)));
  const agent = await startSession(project, await project.addTask('Tidy up'));
  return { ...agent, project, here: { cwd: project.folder } };
}

const over = new AbortController().signal;

/** Asks as a runner does, and is on the board when this returns. */
async function ask(asking: Asking, what = 'rm -rf "build"\nand \u001b[31mmore') {
  const recorder = await recorderOf(asking.project, asking);
  const heard = recorder.mayUse({ tool: 'Bash', what }, over);
  for (let looks = 0; looks < 100; looks += 1) {
    const { question } = await answer<{ question: { what: string } | null }>(
      ['answer', asking.task],
      asking.here,
    );
    if (question?.what === what) return { heard };
    await sleep(50);
  }
  return expect.fail('It was never asked');
}

async function refusedWith(argv: readonly string[], at: Parameters<typeof copse>[1]) {
  const { code, stdout, stderr } = await copse([...argv, '--json'], at);
  expect({ argv, stdout }).toEqual({ argv, stdout: '' });
  const { error } = JSON.parse(stderr) as { error: { code: string; reason: string; next: string[] } };
  return { exit: code, ...error };
}

describe('an open question', () => {
  test('shows wherever the task is shown, with the command to answer it', async () => {
    const asking = await newSession();
    const { task, here } = asking;
    const { heard } = await ask(asking);
    const asked = 'rm -rf "build"';
    // Lists show one line of the question, so they name the command that shows all of it.
    const command = `copse answer ${task}`;
    const list = await printed(['list'], here);
    expect(list).toMatch(
      new RegExp(`IN_PROGRESS .*Tidy up.*\\n {6}asks to use Bash \\(waiting \\d+s\\): ${asked} …\\n`),
    );
    const agents = await printed(['agents'], here);
    expect(agents).toContain(`): ${asked} …\n      → ${command}\n`);
    for (const words of [
      ['show', task],
      ['why', task],
      ['answer', task],
    ]) {
      const text = await printed(words, here);
      expect(text).toMatch(/The agent asks to use Bash \(waiting \d+s\):/);
      expect(text).toContain(asked);
      // All of it, and none of it obeyed by a terminal.
      expect(text).toContain('and \\x1b[31mmore');
      expect(text).toMatch(new RegExp(`→ ${command} allow --question qu-\\w+\n`));
    }
    const shown = await answer<{ attention: string; question: object }>(['show', task], here);
    expect(shown).toMatchObject({
      attention: 'permission',
      question: { tool: 'Bash', session: asking.session },
    });
    const { tasks } = await answer<{ tasks: { question: object | null }[] }>(['list'], here);
    expect(tasks[0]?.question).toEqual(shown.question);
    expect(shown.question).toMatchObject({ since: expect.stringMatching(/^\d{4}-.*Z$/) });
    await printed(['answer', task, 'allow'], here);
    await heard;
  });

  test('is answered once; the agent gets the answer with the message, and continues', async () => {
    const asking = await newSession();
    const { task, here, project } = asking;
    const first = await ask(asking);
    expect(await printed(['answer', task.slice(3), 'allow'], here)).toBe(
      `Allowed ${task} Bash: rm -rf "build" …\n`,
    );
    expect(await first.heard).toEqual({ isAllowed: true, message: null });
    expect(await project.context.board.get('session', asking.session)).toMatchObject({
      state: { life: 'live', attention: null },
    });
    expect(await refusedWith(['answer', task, 'deny'], here)).toMatchObject({
      exit: 4,
      code: 'wrong_status',
    });
    const second = await ask(asking, 'curl example.invalid');
    expect(await answer(['answer', task, 'deny', '--message', 'Not from\nhere'], here)).toMatchObject({
      isAllowed: false,
      question: { what: 'curl example.invalid' },
    });
    expect(await second.heard).toEqual({ isAllowed: false, message: 'Not from\nhere' });
    const { stdout } = await copse(['events', '--json'], here);
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; by: string });
    expect(events.filter(({ type }) => type === 'session.answered').map(({ by }) => by)).toEqual([
      'person:ada',
      'person:ada',
    ]);
  });

  test('can be named, so that an answer never counts for another question', async () => {
    const asking = await newSession();
    const { task, here } = asking;
    const { heard } = await ask(asking);
    const { question } = await answer<{ question: { id: string } }>(['answer', task], here);
    const other = await refusedWith(['answer', task, 'allow', '--question', 'qu-other'], here);
    expect(other).toMatchObject({ exit: 4, next: [`copse answer ${task}`] });
    expect(other.reason).toContain(question.id);
    await printed(['answer', task, 'allow', '--question', question.id], here);
    expect(await heard).toMatchObject({ isAllowed: true });
  });

  // promise: people-only
  test('is for people: the agent that asks cannot answer it', async () => {
    const asking = await newSession();
    const { heard } = await ask(asking);
    expect(await refusedWith(['answer', asking.task, 'allow'], asking.at)).toMatchObject({
      exit: 4,
      code: 'not_this_session',
    });
    await printed(['answer', asking.task, 'deny'], asking.here);
    expect(await heard).toMatchObject({ isAllowed: false });
  });

  test('is closed when its session was interrupted and continues', async () => {
    const asking = await newSession();
    const { task, session, here, project } = asking;
    const gone = new AbortController();
    const recorder = await recorderOf(project, asking);
    const heard = recorder.mayUse({ tool: 'Bash', what: 'make' }, gone.signal);
    await sleep(100);
    await recorder.settled();
    expect((await answer<{ question: object | null }>(['answer', task], here)).question).not.toBeNull();
    gone.abort();
    expect(await heard).toEqual({ isAllowed: false, message: 'No answer came before the turn ended.' });
    must(
      await change(project.context, async (change) => {
        await change.apply(
          decideSession(await change.require('session', session), { action: 'handback' }, change.at),
        );
      }),
    );
    expect(await answer(['answer', task], here)).toEqual({ task, question: null });
    expect(await refusedWith(['answer', task, 'allow'], here)).toMatchObject({
      exit: 4,
      code: 'wrong_status',
    });
    expect(await printed(['list'], here)).not.toContain('copse answer');
  });
});

test('a task without an open question cannot be answered, and every refusal names a command', async () => {
  const { project, task, here } = await newSession();
  const silent = await copse(['answer', task], here);
  expect(silent).toMatchObject({
    code: 4,
    stdout: '',
    stderr: expect.stringContaining('does not ask for permission'),
  });
  const ready = await project.addTask('Not begun');
  const refused = await refusedWith(['answer', ready, 'allow'], here);
  expect(refused).toMatchObject({ exit: 4, code: 'wrong_status' });
  expect(refused.reason).toBe(`${ready} does not ask for permission: it is ready.`);
  expect(await refusedWith(['answer', task, 'yes'], here)).toMatchObject({ exit: 2, code: 'invalid' });
  expect(await refusedWith(['answer', 'zzzz', 'allow'], here)).toMatchObject({ exit: 3 });
});
