/** How people hear that they are needed: `copse notify`, and what an orchestrator sends. */

import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { answer, copse, newArea, printed } from '../../support/cli.ts';
import { newDesktop, newWebhook } from '../../support/agents/notices.ts';
import { endAgents, newScene, untilIdle } from '../../support/agents/scripted-agents.ts';
import { startSession } from '../../support/records/sessions.ts';
import { newProject, openForTest } from '../../support/workspaces/workspaces.ts';

const area = newArea();
afterAll(() => endAgents(area));

let projects = 0;

async function newSession() {
  projects += 1;
  const project = await openForTest(newProject(path.join(area, `it's "projekt" ${projects}`)));
  const agent = await startSession(project, await project.addTask('Tidy up'));
  const attention = async () => {
    const state = (await project.context.board.get('session', agent.session))?.state;
    return state?.life === 'live' ? state.attention : undefined;
  };
  return { ...agent, project, attention, here: { cwd: project.folder } };
}

async function refusedWith(argv: readonly string[], at: Parameters<typeof copse>[1]) {
  const { code, stdout, stderr } = await copse([...argv, '--json'], at);
  expect({ argv, stdout }).toEqual({ argv, stdout: '' });
  const { error } = JSON.parse(stderr) as { error: { code: string; reason: string; next: string[] } };
  return { exit: code, ...error };
}

describe('copse notify', () => {
  test('raises the attention of the task of the worktree, and lowers it again', async () => {
    const { project, task, session, at, here, attention } = await newSession();
    expect(await answer(['notify', 'idle', '--message', 'Which "port"?'], at)).toEqual({
      task,
      attention: 'idle',
      isNew: true,
    });
    expect(await attention()).toBe('idle');
    const last = await project.context.board.lastEvent();
    const [event] = await project.context.board.events({ after: (last - 1) as never, limit: 1 });
    expect(event).toMatchObject({
      by: { kind: 'session', session },
      event: { type: 'session.attention', attention: 'idle', message: 'Which "port"?' },
    });
    expect(await printed(['agents'], here)).toContain('waits for you: idle');
    expect(await printed(['notify', 'permission'], at)).toBe(`${task} waits for permission\n`);
    // A hook may say it as often as it likes.
    const before = await project.context.board.lastEvent();
    expect(await printed(['notify', 'permission'], at)).toBe(`Nothing new: ${task} waits for permission\n`);
    expect(await project.context.board.lastEvent()).toBe(before);
    await answer(['notify', 'permission', '--message', 'May I run rm?'], at);
    for (const line of [['status'], ['list'], ['inbox'], ['why', task], ['show', task], ['events']])
      expect(await printed(line, here)).toMatch(/waits for permission: May I run rm\?/i);
    const { code, stderr } = await copse(['answer', task, 'allow'], here);
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: `copse: Copse cannot pass an answer to this agent (coder).\n  → copse pause ${task} && copse resume ${task} --message "…"\n`,
    });
    expect(await printed(['notify', 'none'], at)).toBe(`${task} no longer waits for you.\n`);
    expect(await attention()).toBe(null);
  });

  // promise: own-task-only
  test('is for an agent’s own task only, and for people for any that runs', async () => {
    const { project, task, at, here, attention } = await newSession();
    const other = await startSession(project, await project.addTask('Another'));
    expect(await refusedWith(['notify', 'idle', other.task], at)).toMatchObject({
      exit: 4,
      code: 'not_this_session',
    });
    const outdated = { ...at, env: { ...at.env, COPSE_TOKEN: '99' } };
    expect(await refusedWith(['notify', 'idle'], outdated)).toMatchObject({ exit: 4 });
    expect(await attention()).toBe(null);
    expect(await answer(['notify', 'idle', task], here)).toMatchObject({ isNew: true });
    expect(await attention()).toBe('idle');
    const ready = await project.addTask('Not begun');
    expect(await refusedWith(['notify', 'idle', ready], here)).toMatchObject({
      exit: 4,
      code: 'wrong_status',
    });
    expect(await refusedWith(['notify', 'stuck'], at)).toMatchObject({
      exit: 2,
      next: ['copse stuck --reason "…"'],
    });
    expect(await refusedWith(['notify', 'constructor'], at)).toMatchObject({ exit: 2 });
  });
});

describe('without an orchestrator', () => {
  const webhookAt = ({ port }: { readonly port: number }, events: readonly string[]) => ({
    sections: { notifications: { desktop: false, webhook: `http://127.0.0.1:${port}/hook`, events } },
  });
  const kinds = (webhook: Awaited<ReturnType<typeof newWebhook>>) =>
    webhook.received.map(({ body }) => body['kind']);

  test('a person who reports by hand is enough: stuck and notify are sent once', async () => {
    const webhook = await newWebhook(204);
    const scene = newScene(area, webhookAt(webhook, ['stuck', 'idle']));
    const id = await scene.add('By hand', 'true');
    const { worktree: cwd } = await answer<{ worktree: string }>(['work', id], scene.at);
    await answer(['notify', 'idle', '--message', 'Which port?'], { cwd });
    expect(kinds(webhook)).toEqual(['idle']);
    await answer(['stuck', '--reason', 'Keep both?'], { cwd });
    expect(kinds(webhook)).toEqual(['idle', 'stuck']);
    expect(webhook.received[1]?.body['text']).toContain('Keep both?');
    // An orchestrator that starts later does not repeat it.
    await scene.up();
    expect(kinds(webhook)).toEqual(['idle', 'stuck']);
  });

  test('the runner of an agent sends its question', async () => {
    const webhook = await newWebhook(204);
    const scene = newScene(area, webhookAt(webhook, ['stuck']));
    const id = await scene.add('Asks', 'copse stuck --reason "First?"');
    await answer(['work', id], scene.at);
    await answer(['pause', id], scene.at);
    // No orchestrator runs: the command starts the agent and ends.
    await answer(['resume', id], scene.at);
    await expect.poll(() => kinds(webhook), { timeout: 60_000, interval: 100 }).toEqual(['stuck']);
    expect(webhook.received[0]?.body['text']).toContain('First?');
  });

  // setting: notifications.desktop, notifications.bell
  test('--test sends through every channel and says which ones work', async () => {
    const webhook = await newWebhook(204);
    const scene = newScene(area, webhookAt(webhook, []));
    const said = await printed(['notify', '--test'], scene.at);
    expect(said).toMatch(/^webhook {2}sent\nbell {5}absent: the output is not a terminal\n$/);
    expect(kinds(webhook)).toEqual(['test']);
    const broken = newScene(area, webhookAt({ port: 9 }, []));
    const { code, stdout, stderr } = await copse(['notify', '--test'], broken.at);
    expect({ code, stderr }).toMatchObject({ code: 1 });
    expect(stdout).toMatch(/^webhook {2}failed: /m);
    const silent = newScene(area, { sections: { notifications: { desktop: false, bell: false } } });
    expect((await copse(['notify', '--test'], silent.at)).stderr).toContain('notifications.webhook');
  });
});

describe('an orchestrator', () => {
  // setting: notifications.webhook, notifications.events
  test('sends each event that needs a person once through every channel, and only the configured kinds', async () => {
    const desktop = newDesktop(area, 'plain');
    const webhook = await newWebhook(204);
    const url = `http://127.0.0.1:${webhook.port}/hooks/T0KEN?key=s3cret`;
    const notifications = { webhook: url, events: ['stuck', 'landed'] };
    const scene = newScene(area, { sections: { notifications } });
    const stuck = await scene.add('<b>Which</b> & why', 'copse notify idle; copse stuck --reason "Drop it?"');
    const done = await scene.add('Does “it”', 'commit it it.txt');
    const up = () => untilIdle({ ...scene.at, env: desktop.env });
    expect(await up()).not.toMatch(/T0KEN|s3cret/);
    const shown = desktop.shown().map((words) => words.slice(1).join('|'));
    expect(shown.toSorted()).toEqual([
      `--urgency=critical|--|Copse: ${stuck} is stuck: <b>Which</b> & why|Drop it?\ncopse restart ${stuck} --answer "…"`,
      `--urgency=normal|--|Copse: ${done} is done: Does “it”|Landed as ${scene.git('rev-parse', '--short=10', 'main')}.\ncopse show ${done}`,
    ]);
    expect(webhook.received.map(({ path: at, body }) => [at, body['kind']]).toSorted()).toEqual([
      ['/hooks/T0KEN?key=s3cret', 'landed'],
      ['/hooks/T0KEN?key=s3cret', 'stuck'],
    ]);
    // What happened before it began is not news.
    await up();
    expect(desktop.shown()).toHaveLength(2);
  });

  // promise: passwords-hidden
  test('is not blocked by an address that never answers, and reports it without its secrets', async () => {
    const webhook = await newWebhook(0);
    const url = `http://ada:passw0rd@127.0.0.1:${webhook.port}/hooks/T0KEN?key=s3cret`;
    const scene = newScene(area, { sections: { notifications: { desktop: false, webhook: url } } });
    const ids = [
      await scene.add('One', 'commit one one.txt'),
      await scene.add('Other', 'commit other other.txt'),
    ];
    const stdout = await scene.up('--max-agents', '1');
    const tasks = await scene.tasks();
    expect(ids.map((id) => tasks.get(id)?.status)).toEqual(['done', 'done']);
    expect(webhook.received.length).toBeGreaterThan(0);
    expect(stdout).toContain(
      `The webhook at http://127.0.0.1:${webhook.port}/… was not notified: Copse stopped before it answered.`,
    );
    expect(stdout).not.toMatch(/T0KEN|s3cret|passw0rd/);
  });
});
