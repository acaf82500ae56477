/** The log of an agent without a terminal on its task's page: seen as it is written, with what is missing, and as text. */

import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Browser, Page as BrowserPage, WebSocketRoute } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { newArea } from '../../support/cli.ts';
import { LAPTOP, PHONE, openBrowser, openPage } from '../../support/server/browser.ts';
import { type Scene, TASK, endAgent, newScene } from '../../support/server/output.ts';
import { expectAccessible, expectFits, shoot } from '../../support/server/page-checks.ts';

const area = newArea();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const OUTPUT = `/tasks/${TASK}?part=output`;
const lines = (page: BrowserPage) => page.getByRole('region', { name: 'Lines of output' });

/** A page that is left before it has used its code cannot enter again. */
async function openBoard(scene: Scene, screen: Parameters<typeof openPage>[3] = LAPTOP) {
  const opened = await openPage(browser, scene.served.server, '/board', screen);
  await opened.page.getByRole('navigation', { name: 'Pages' }).waitFor();
  return opened;
}

function logOf(cwd: string, text: string): string {
  const folder = path.join(cwd, '.copse', 'logs', TASK);
  mkdirSync(folder, { recursive: true });
  const log = path.join(folder, 'at-aaaa.log');
  writeFileSync(log, text);
  return log;
}

// promise: output-offsets
test('is shown live; after a cut it goes on where it was, a gap is said, and its end too', async () => {
  await using scene = await newScene(area);
  const log = logOf(scene.cwd, 'öne\n');
  const { page, faults } = await openBoard(scene);
  const routes: WebSocketRoute[] = [];
  await page.routeWebSocket(/\/output\?/, (socket) => {
    routes.push(socket);
    socket.connectToServer();
  });
  await page.goto(`${scene.served.server.url}${OUTPUT}`);
  await lines(page).getByText('öne').waitFor();
  appendFileSync(log, 'two\n');
  await lines(page).getByText('two').waitFor();
  await page.getByText('● live', { exact: true }).waitFor();
  await routes[0]?.close();
  appendFileSync(log, 'three\n');
  await lines(page).getByText('three').waitFor();
  expect(new URL(routes[1]?.url() ?? '').searchParams.get('from')).toBe('9');
  expect(await lines(page).innerText()).toBe('öne\ntwo\nthree');
  truncateSync(log, 0);
  appendFileSync(log, 'anew\n');
  await lines(page).getByText('anew').waitFor();
  await lines(page).getByText('– Output left out here –').waitFor();
  await expectAccessible(page);
  await shoot(page, 'task-log-1440');
  await endAgent(scene);
  await page.getByText('■ ended').waitFor();
  expect(faults).toStrictEqual([]);
  await page.context().close();
});

test('begins near its end, shows what is before on demand, and follows the end until its reader scrolls up', async () => {
  await using scene = await newScene(area, { terminals: { logTailBytes: 2_000 } });
  const log = logOf(scene.cwd, Array.from({ length: 1_000 }, (_, line) => `line ${line}\n`).join(''));
  const { page } = await openPage(browser, scene.served.server, OUTPUT);
  await lines(page).getByText('line 999').waitFor();
  expect(await lines(page).getByText('line 10\n').count()).toBe(0);
  await page.getByRole('button', { name: /^Show the .* before it$/ }).click();
  await lines(page).getByText('line 0').waitFor();
  await lines(page).getByText('line 999').waitFor();
  const isAtEnd = () =>
    lines(page).evaluate(
      (element: Readonly<Record<'scrollHeight' | 'scrollTop' | 'clientHeight', number>>) =>
        element.scrollHeight - element.scrollTop - element.clientHeight < 40,
    );
  await expect.poll(isAtEnd).toBe(true);
  appendFileSync(log, 'line 1000\n');
  await lines(page).getByText('line 1000').waitFor();
  await expect.poll(isAtEnd).toBe(true);
  await lines(page).focus();
  await page.keyboard.press('Home');
  const follow = page.getByRole('button', { name: 'Follow its end' });
  await follow.waitFor();
  appendFileSync(log, 'line 1001\n');
  await lines(page).getByText('line 1001').waitFor();
  expect(await isAtEnd()).toBe(false);
  await follow.click();
  await expect.poll(isAtEnd).toBe(true);
  await page.context().close();
});

test.each([
  ['1440', LAPTOP],
  ['390', PHONE],
] as const)(
  'of hostile bytes is text at %s, also a line of 1 MB, and is closed when the page is left',
  async (size, screen) => {
    await using scene = await newScene(area, {
      terminals: { logTailBytes: 2 ** 24, logBehindBytes: 2 ** 24 },
    });
    const hostile =
      '<script>globalThis.harmed = 1</script>\n\u001b[31mred\u001b[0m\u001b]0;owned\u0007\n\u202eedoc\n';
    logOf(scene.cwd, `${'x'.repeat(1_200_000)}\n${hostile}${'\u001b[2J'.repeat(50_000)}\nend\n`);
    const { page, faults } = await openBoard(scene, screen);
    const outputs: { isClosed(): boolean }[] = [];
    page.on('websocket', (socket) => socket.url().includes('/output') && outputs.push(socket));
    await page.goto(`${scene.served.server.url}${OUTPUT}`);
    await lines(page).getByText('end').last().waitFor();
    await lines(page).getByText('(1196000 more characters)').waitFor();
    await lines(page)
      .getByText(String.raw`\x1b[31mred\x1b[0m\x1b]0;owned\x07`)
      .waitFor();
    await lines(page)
      .getByText(String.raw`\u202eedoc`)
      .waitFor();
    expect(await page.evaluate('"harmed" in globalThis')).toBe(false);
    await expectFits(page);
    await expectAccessible(page);
    await shoot(page, `task-log-hostile-${size}`);
    await page.getByRole('tab', { name: 'Details' }).click();
    await expect.poll(() => outputs.map((socket) => socket.isClosed())).toStrictEqual([true]);
    expect(faults).toStrictEqual([]);
    await page.context().close();
  },
);
