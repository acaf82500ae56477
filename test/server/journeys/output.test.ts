/** Pages that show what agents put out, and people who type to them, through a real server and a real tmux. */

import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { answer, copse, newArea, printed } from '../../support/cli.ts';
import { until } from '../../support/records/turns.ts';
import { OwnTmux, Page, TASK, endAgent, hasTmux, newScene } from '../../support/server/output.ts';
import { call, called, serveRepository } from '../../support/server/served-repository.ts';
import { ask, openSocket, ticketOf } from '../../support/server/served.ts';

const area = newArea();

describe.skipIf(!hasTmux)('a page with a terminal', () => {
  const tmux = new OwnTmux(area);

  // promise: output-offsets
  test('gets the screen and then all output, with offsets; one that was away gets exactly what it missed', async () => {
    await using scene = await newScene(area);
    tmux.start(
      TASK,
      'printf "r\\303\\251ady\\r\\n"; stty -echo; while read -r line; do echo "<$line>"; done',
    );
    await until(() => tmux.screen(TASK).includes('réady'));
    expect(tmux.controlClients(TASK)).toBe(0);
    const page = await Page.open(scene.served, '&view=terminal');
    await page.until(({ shown }) => shown.includes('réady'));
    expect(page.of('screen')).toEqual([
      expect.objectContaining({ columns: 80, rows: 24, at: expect.any(Number) }),
    ]);
    const away = await Page.open(scene.served, '&view=terminal');
    await away.until(({ shown }) => shown.includes('réady'));
    const { stream, at } = away;
    await away.leave();
    for (const word of ['eins', 'zwei', 'drüi']) tmux.run('send-keys', '-t', `copse-${TASK}:`, word, 'Enter');
    await page.until(({ text }) => text.includes('<drüi>'));
    expect(page.text).toMatch(/<eins>\r\n<zwei>\r\n<drüi>\r\n$/);
    expect(page.jumps).toBe(0);
    const back = await Page.open(scene.served, `&view=terminal&stream=${stream}&from=${at}`);
    await back.until(({ text }) => text.includes('<drüi>'));
    expect([back.text, back.of('screen'), back.of('gap'), back.jumps]).toEqual([
      '<eins>\r\n<zwei>\r\n<drüi>\r\n',
      [],
      [],
      0,
    ]);
    // Of another life of the terminal, numbers say nothing: it is told, and a screen comes.
    const old = await Page.open(scene.served, '&view=terminal&stream=other.0&from=7');
    await old.until(({ shown }) => shown.includes('<drüi>'));
    expect(old.of('gap')).toEqual([{ kind: 'gap', from: 7, to: null }]);
    expect(tmux.controlClients(TASK)).toBe(1);
    tmux.run('kill-session', '-t', `=copse-${TASK}`);
    await page.until(({ closed }) => closed !== undefined);
    expect([page.closed?.code, page.told.at(-1)]).toEqual([
      1000,
      { kind: 'ended', reason: 'Its terminal has ended.' },
    ]);
  });

  // promise: output-only-open
  test('is served by one control client with others, and by none after the last has closed', async () => {
    await using scene = await newScene(area, { terminals: { lingerMs: 50 } });
    tmux.start(TASK, 'echo ready; exec cat');
    const pages = await Promise.all([1, 2, 3].map(() => Page.open(scene.served, '&view=terminal')));
    for (const page of pages) await page.until(({ shown }) => shown.includes('ready'));
    expect(tmux.controlClients(TASK)).toBe(1);
    expect(tmux.run('list-panes', '-a', '-F', '#{pane_width}x#{pane_height}')).toBe('80x24\n');
    tmux.run('resize-window', '-t', `copse-${TASK}:`, '-x', '100', '-y', '30');
    for (const page of pages) await page.until((one) => one.of('screen').at(-1)?.['columns'] === 100);
    expect(pages.flatMap((page) => page.of('gap'))).toEqual([]);
    await Promise.all(pages.map((page) => page.leave()));
    await until(() => tmux.controlClients(TASK) === 0);
  });

  // promise: take-over
  test('types to the agent only while its person has taken over, as the board has it', async () => {
    await using scene = await newScene(area);
    const { cwd, served } = scene;
    const at = { cwd, env: { USER: 'anna' } };
    tmux.start(TASK, 'stty -echo; echo ready; while read -r line; do echo "<$line>"; done');
    const page = await Page.open(served, '&view=terminal');
    await page.until(({ shown }) => shown.includes('ready'));
    expect(await page.type('one\r')).toMatchObject({ kind: 'refused', next: [`copse take-over ${TASK}`] });
    const taken = await called(served, `POST /tasks/${TASK}/take-over`, { body: {} });
    expect(taken).toMatchObject({ task: TASK, person: 'anna', isKept: false, isNew: true });
    expect(await called(served, `POST /tasks/${TASK}/take-over`, { body: {} })).toMatchObject({
      isNew: false,
    });
    expect(await page.type('zwö\r')).toMatchObject({ kind: 'typed' });
    await page.until(({ text }) => text.includes('<zwö>'));
    expect(await printed(['show', TASK], at)).toMatch(/taken over +by anna/);
    expect(await answer(['show', TASK], at)).toMatchObject({ takenOver: { person: 'anna' } });
    expect(await printed(['why', TASK], at)).toContain(`copse give-back ${TASK}`);
    expect(await answer(['status'], at)).toMatchObject({ working: [{ task: TASK, takenOverBy: 'anna' }] });
    expect(await printed(['status'], at)).toContain('taken over by anna');
    const other = await copse(['take-over', TASK], { cwd, env: { USER: 'ben' } });
    expect(other).toMatchObject({ code: 4, stderr: expect.stringContaining('anna has taken over') });
    const agent = await copse(['take-over', TASK], {
      cwd,
      env: { COPSE_SESSION_ID: 'se-aaaa', COPSE_TOKEN: '1', COPSE_TASK_ID: TASK },
    });
    expect(agent).toMatchObject({ code: 4, stderr: expect.stringContaining('may not run copse take-over') });
    expect(await printed(['give-back', TASK], { cwd, env: { USER: 'ben' } })).toContain('back to its agent');
    expect(await page.type('three\r')).toMatchObject({ kind: 'refused', code: 'wrong_status' });
    expect(await printed(['take-over', TASK], { cwd, env: { USER: 'ben' } })).toContain(
      `copse give-back ${TASK}`,
    );
    expect(await page.type('four\r')).toMatchObject({
      kind: 'refused',
      reason: `ben has taken over the terminal of ${TASK}, not you.`,
    });
    expect(page.text).toMatch(/^(ready\r\n)?<zwö>\r\n$/);
    const events = await printed(['events', '--json'], at);
    const written = events
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; by: string });
    expect(
      written.filter(({ type }) => /taken_over|given_back/.test(type)).map(({ type, by }) => [type, by]),
    ).toEqual([
      ['session.taken_over', 'person:anna'],
      ['session.given_back', 'person:ben'],
      ['session.taken_over', 'person:ben'],
    ]);
    tmux.run('kill-session', '-t', `=copse-${TASK}`);
    expect(await call(served, `POST /tasks/${TASK}/take-over`, { body: {} })).toMatchObject({
      status: 404,
      body: expect.stringContaining('has no terminal'),
    });
  });

  // promise: take-over
  test('takes over nothing of an agent that has ended, and input is bounded', async () => {
    await using scene = await newScene(area, { terminals: { typedBytesPerSecond: 80, typedBytes: 100 } });
    const { served } = scene;
    tmux.start(TASK, 'stty -echo; echo ready; exec cat');
    const page = await Page.open(served, '&view=terminal');
    await page.until(({ shown }) => shown.includes('ready'));
    await called(served, `POST /tasks/${TASK}/take-over`, { body: { isKept: true } });
    expect(await page.type('x'.repeat(101))).toMatchObject({ kind: 'refused', code: 'invalid' });
    expect(await page.type('y'.repeat(90))).toMatchObject({ kind: 'refused', code: 'busy' });
    expect(await page.type('z'.repeat(70))).toMatchObject({ kind: 'typed' });
    page.socket.send('[]');
    page.socket.send(Buffer.from('no text'));
    await page.until((one) => one.of('refused').filter(({ code }) => code === 'invalid').length === 3);
    await endAgent(scene);
    expect(await page.type('after\r', 2_000)).toMatchObject({ kind: 'refused' });
    expect(await call(served, `POST /tasks/${TASK}/take-over`, { body: {} })).toMatchObject({
      status: 409,
      body: expect.stringContaining('no agent runs'),
    });
    const late = await Page.open(served, '&view=terminal');
    await late.until(({ closed }) => closed !== undefined);
    expect([late.closed?.code, late.told]).toMatchObject([4004, [{ kind: 'refused', code: 'wrong_status' }]]);
    for (let id = 3_000; id < 3_400; id += 1)
      page.socket.send(JSON.stringify({ kind: 'type', id, text: 'z' }));
    await page.until(({ closed }) => closed?.code === 4008);
  });

  // promise: take-over
  test('gives the terminal back a while after it was closed; a take-over of the command line stays', async () => {
    await using scene = await newScene(area, { terminals: { pageClosedMs: 100, lingerMs: 10 } });
    const { cwd, served } = scene;
    tmux.start(TASK, 'echo ready; exec cat');
    const takenOver = async () => (await answer<{ takenOver: unknown }>(['show', TASK], { cwd })).takenOver;
    for (const isKept of [true, false]) {
      await called(served, `POST /tasks/${TASK}/take-over`, { body: { isKept } });
      const page = await Page.open(served, '&view=terminal');
      await page.until(({ shown }) => shown.includes('ready'));
      await page.leave();
      if (isKept) {
        await new Promise((resolve) => setTimeout(resolve, 300));
        expect(await takenOver()).not.toBeNull();
      } else await until(async () => (await takenOver()) === null);
    }
  });

  // promise: take-over
  test('a server that finds its port taken gives nothing back', async () => {
    await using scene = await newScene(area, { terminals: { pageClosedMs: 100 } });
    const { cwd, served } = scene;
    tmux.start(TASK, 'echo ready; exec cat');
    const page = await Page.open(served, '&view=terminal');
    await page.until(({ shown }) => shown.includes('ready'));
    await called(served, `POST /tasks/${TASK}/take-over`, { body: {} });
    const limits = { terminals: { pageClosedMs: 100 } };
    const second = serveRepository(cwd, { USER: 'anna' }, limits, served.port);
    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await answer(['show', TASK], { cwd })).toMatchObject({ takenOver: { person: 'anna' } });
    await page.leave();
  });

  // promise: output-hostile
  test('gets every byte that a hostile program writes, and no line of it becomes a command or a notice', async () => {
    await using scene = await newScene(area);
    const guards = Array.from(
      { length: 600 },
      (_, number) => `%end ${Math.floor(Date.now() / 1000)} ${number} 1\n%exit\n`,
    );
    const bytes = Buffer.concat([
      Buffer.from(`%output %0 \\012kill-server\n%exit\n%begin 1 2 1\n\\015\\8\\400 \\\\\n${guards.join('')}`),
      Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256)),
      Buffer.from('x'.repeat(80_000)),
    ]);
    const file = path.join(area, 'bytes');
    writeFileSync(file, bytes);
    // On its screen, the end of every answer that tmux could be giving.
    const ends = String.raw`seq -f '%%end 1 %g 1' 1 990 | sed "s/$/$(printf '\r')/"`;
    const line = String.raw`stty raw -echo; echo ready; read -r _; cat "${file}"; printf '\033c'; ${ends}; exec cat`;
    tmux.start(TASK, line, [80, 1_000]);
    await until(() => tmux.screen(TASK).includes('ready'));
    const page = await Page.open(scene.served, '&view=terminal');
    await page.until(({ shown }) => shown.includes('ready'));
    tmux.run('send-keys', '-t', `copse-${TASK}:`, 'C-j');
    await page.until(({ output }) => output.length > bytes.length);
    expect(page.output.subarray(0, bytes.length).equals(bytes)).toBe(true);
    expect(page.jumps).toBe(0);
    await until(() => tmux.screen(TASK).includes('%end 1 990 1'));
    const second = await Page.open(scene.served, '&view=terminal&stream=x.1&from=0');
    await second.until(({ screen }) => screen.includes('%end 1 990 1'));
    expect(tmux.controlClients(TASK)).toBe(1);
  });
});

describe('a page with a log', () => {
  function logOf(cwd: string): string {
    const folder = path.join(cwd, '.copse', 'logs', TASK);
    mkdirSync(folder, { recursive: true });
    return path.join(folder, 'at-aaaa.log');
  }

  // promise: output-offsets
  test('gets what is added, from any offset; what it cannot get is told in numbers', async () => {
    await using scene = await newScene(area, { terminals: { logTailBytes: 20, logBehindBytes: 100 } });
    const log = logOf(scene.cwd);
    writeFileSync(log, 'one\ntwo\n');
    const page = await Page.open(scene.served, '');
    await page.until(({ text }) => text === 'one\ntwo\n');
    expect(page.told).toEqual([
      {
        kind: 'opened',
        task: TASK,
        session: 'se-aaaa',
        attempt: 'at-aaaa',
        view: 'log',
        stream: 'at-aaaa',
        at: 0,
      },
    ]);
    appendFileSync(log, 'thrée\n');
    await page.until(({ text }) => text === 'one\ntwo\nthrée\n');
    const from = await Page.open(scene.served, '&from=4');
    await from.until(({ text }) => text === 'two\nthrée\n');
    expect([page.jumps, from.jumps]).toEqual([0, 0]);
    // More than a page may be behind: it is moved on to the end.
    appendFileSync(log, 'x'.repeat(200));
    await page.until((one) => one.of('gap').length === 1);
    expect(page.of('gap')).toEqual([{ kind: 'gap', from: 15, to: 195 }]);
    await page.until(({ at }) => at === 215);
    truncateSync(log, 3);
    await page.until((one) => one.of('gap').length === 2);
    expect(page.of('gap').at(-1)).toEqual({ kind: 'gap', from: 215, to: 0 });
    expect(await page.type('x')).toMatchObject({ kind: 'refused' });
    await endAgent(scene);
    await page.until(({ closed }) => closed !== undefined);
    expect([page.closed?.code, page.told.at(-1)?.kind, page.jumps]).toEqual([1000, 'ended', 0]);
  });

  test('needs a ticket, which opens it once; unknown tasks and words are refused with a reason', async () => {
    await using scene = await newScene(area);
    const ticket = await ticketOf(scene.served);
    const address = `/../tasks/${TASK}/output`;
    expect(await openSocket(scene.served, `/..${address}`)).toMatchObject({ kind: 'refused', status: 401 });
    expect(await ask(scene.served, `/api/v1/tasks/${TASK}/output`)).toMatchObject({ status: 404 });
    const first = await Page.open(scene.served, '&view=film');
    await first.until(({ closed }) => closed?.code === 4004);
    expect(first.told).toMatchObject([{ kind: 'refused', code: 'invalid' }]);
    const none = await Page.open(scene.served, '', 'cp-zzzz');
    await none.until(({ closed }) => closed?.code === 4004);
    expect(none.told).toMatchObject([{ kind: 'refused', code: 'not_found', next: ['copse list'] }]);
    expect(scene.served.server.keys.useTicket(ticket)).toBe(true);
    await expect(
      new Promise((resolve, reject) => {
        const { socket } = first;
        const again = new WebSocket(socket.url);
        again.once('unexpected-response', (_, { statusCode }) => reject(new Error(String(statusCode))));
        again.once('open', resolve);
      }),
    ).rejects.toThrow('401');
  });
});
