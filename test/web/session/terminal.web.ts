/** The terminal of an agent on its task's page: seen live, typed into only after a take-over, and harmless whatever is in it. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Browser, Page as BrowserPage } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { newArea, printed } from '../../support/cli.ts';
import { LAPTOP, PHONE, openBrowser, openPage } from '../../support/server/browser.ts';
import { OwnTmux, TASK, type Scene, endAgent, newScene } from '../../support/server/output.ts';
import { expectAccessible, expectFits, shoot } from '../../support/server/page-checks.ts';

const area = newArea();
const tmux = new OwnTmux(area);
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const ECHO = 'stty -echo; echo ready; while read -r line; do echo "<$line>"; done';
const TERMINAL = `/tasks/${TASK}?part=output`;

const inTerminal = (limits?: Parameters<typeof newScene>[1]) =>
  newScene(area, limits, { isInTerminal: true });
const rows = (page: BrowserPage) => page.locator('.xterm-rows');
const region = (page: BrowserPage) => page.getByRole('region', { name: `Terminal of ${TASK}` });
const who = (page: BrowserPage) => page.getByRole('region', { name: 'Who types' });
const takeOver = (page: BrowserPage) => who(page).getByRole('button', { name: 'Take over' });
const giveBack = (page: BrowserPage) => who(page).getByRole('button', { name: 'Give back' });
const toast = (page: BrowserPage) => page.getByTestId('toast');

async function openTerminal(scene: Scene, options: Parameters<typeof openPage>[3] = LAPTOP) {
  const opened = await openPage(browser, scene.served.server, TERMINAL, options);
  await rows(opened.page).getByText('ready').first().waitFor();
  return opened;
}

/** A page that is left before it has used its code cannot enter again. */
async function openBoard(scene: Scene, screen: Parameters<typeof openPage>[3] = LAPTOP) {
  const opened = await openPage(browser, scene.served.server, '/board', screen);
  await opened.page.getByRole('navigation', { name: 'Pages' }).waitFor();
  return opened;
}

/** As a person who does not look where the keyboard is. */
async function typeAt(page: BrowserPage, text: string): Promise<void> {
  await page.locator('.xterm-screen').click();
  await page.keyboard.type(text);
}

const state = (page: BrowserPage, status: string) => page.locator(`dd[data-status=${status}]`);
const typing = (page: BrowserPage) => page.locator('[data-typing=true]');

// promise: take-over
describe('what a person types', () => {
  test('reaches the agent only between take over and give back, by mouse and by keyboard', async () => {
    await using scene = await inTerminal();
    tmux.start(TASK, ECHO);
    const { page, faults } = await openTerminal(scene);
    await typeAt(page, 'early\n');
    await takeOver(page).click();
    await typing(page).waitFor();
    // The take-over has the keyboard at once.
    await page.keyboard.type('zwö, drei\n');
    await rows(page).getByText('<zwö, drei>').waitFor();
    await page.locator('header dl').getByText('by anna').waitFor();
    await expectAccessible(page);
    await shoot(page, 'task-terminal-taken-1440');
    // Keys of the page and of the browser go to the agent, too.
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await page.keyboard.press('Control+u');
    await page.keyboard.type('more\n');
    await rows(page).getByText('<more>').waitFor();
    await page.keyboard.press('Control+]');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Give back');
    await page.keyboard.press('Enter');
    await takeOver(page).waitFor();
    await toast(page).getByText(`The terminal of ${TASK} is its agent's again.`).waitFor();
    await typeAt(page, 'late\n');
    tmux.run('send-keys', '-t', `copse-${TASK}:`, 'fin', 'Enter');
    await rows(page).getByText('<fin>').waitFor();
    expect(tmux.screen(TASK).trim().split('\n')).toStrictEqual(['ready', '<zwö, drei>', '<more>', '<fin>']);
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('in another tab reaches nobody until that tab takes over too, and no tab goes on after it was given back', async () => {
    await using scene = await inTerminal();
    tmux.start(TASK, ECHO);
    const { page: first } = await openTerminal(scene);
    await takeOver(first).click();
    await typing(first).waitFor();
    const second = await first.context().newPage();
    await second.goto(`${scene.served.server.url}${TERMINAL}`);
    await rows(second).getByText('ready').first().waitFor();
    await who(second).getByText('anna has taken over. Read-only here.').waitFor();
    await typeAt(second, 'second\n');
    await giveBack(second).click();
    await who(first).getByText('Read-only. Take over to type.').waitFor();
    await typeAt(first, 'first\n');
    // Another take-over of the same person does not wake the first tab.
    await takeOver(second).click();
    await typing(second).waitFor();
    await who(first).getByText('anna has taken over. Read-only here.').waitFor();
    await first.bringToFront();
    await typeAt(first, 'again\n');
    await second.bringToFront();
    await second.keyboard.type('mine\n');
    await rows(second).getByText('<mine>').waitFor();
    await first.bringToFront();
    await who(first).getByRole('button', { name: 'Type here too' }).click();
    await typing(first).waitFor();
    await first.keyboard.type('both\n');
    await rows(first).getByText('<both>').waitFor();
    expect(tmux.screen(TASK).trim().split('\n')).toStrictEqual(['ready', '<mine>', '<both>']);
    await first.context().close();
  });

  test('is refused by the board while the page still believes in its take-over, and the page says so', async () => {
    await using scene = await inTerminal();
    tmux.start(TASK, ECHO);
    const { page } = await openBoard(scene);
    // The page hears of nothing any more as soon as the test says so.
    let isDeaf = false;
    await page.routeWebSocket(/\/api\/v1\/stream/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => isDeaf || socket.send(message));
    });
    await page.goto(`${scene.served.server.url}${TERMINAL}`);
    await rows(page).getByText('ready').first().waitFor();
    await takeOver(page).click();
    await typing(page).waitFor();
    isDeaf = true;
    await printed(['give-back', TASK], { cwd: scene.cwd, env: { USER: 'ben' } });
    await page.keyboard.type('x');
    await toast(page).getByText(`Take over ${TASK} before you type.`).waitFor();
    await expect.poll(() => typing(page).count()).toBe(0);
    await printed(['take-over', TASK], { cwd: scene.cwd, env: { USER: 'ben' } });
    isDeaf = false;
    await page.reload();
    await who(page).getByText('ben has taken over. Read-only here.').waitFor();
    await who(page).getByRole('button', { name: 'Type here too' }).click();
    await toast(page).getByText(`ben has taken over the terminal of ${TASK}.`).waitFor();
    expect(await typing(page).count()).toBe(0);
    expect(tmux.screen(TASK).trim()).toBe('ready');
    await page.context().close();
  });

  test('while the agent ends is no key of the page', async () => {
    await using scene = await inTerminal();
    tmux.start(TASK, ECHO);
    const { page } = await openTerminal(scene);
    await takeOver(page).click();
    await typing(page).waitFor();
    await page.keyboard.type('g');
    const end = endAgent(scene);
    // `g b` goes to the board.
    while ((await region(page).count()) > 0) await page.keyboard.type('gb');
    await page.keyboard.type('gb gb');
    await end;
    await state(page, 'paused').waitFor();
    await page.keyboard.press('Escape');
    expect(new URL(page.url()).pathname).toBe(`/tasks/${TASK}`);
    await page.keyboard.type('gb');
    await page.waitForURL('**/board');
    await page.context().close();
  });
});

/** What a program can ask a terminal, and what would lead a person elsewhere. */
const QUESTIONS = [
  ...[
    'c',
    '0c',
    '>c',
    '=c',
    '5n',
    '6n',
    '?6n',
    '?15n',
    '?26n',
    '20$p',
    '?1$p',
    '18t',
    '14t',
    '21t',
    '>q',
  ].map((question) => `\u001b[${question}`),
  ...['4;1;?', '10;?', '11;?', '12;?', '52;c;?'].map((question) => `\u001b]${question}\u0007`),
  '\u001bP$qm\u001b\\',
  '\u001b[?1004h',
  '\u001b]0;owned\u0007\u001b]2;owned\u0007',
  '\u001b]8;;https://example.invalid/\u001b\\a link\u001b]8;;\u001b\\',
];

// promise: output-hostile
describe('a hostile program', () => {
  test('gets no answer from the page, changes no title, and leads nowhere', async () => {
    await using scene = await inTerminal();
    const [questions, heard] = [path.join(area, 'questions'), path.join(area, 'heard')];
    writeFileSync(questions, QUESTIONS.join(''));
    // tmux answers some, until all is quiet; what comes after it is of a page.
    const line = `stty raw -echo; printf 'ready\\r\\n'; read -r _ <&0; cat '${questions}'; printf '\\r\\nasked\\r\\n'; exec cat > '${heard}'`;
    tmux.start(TASK, `printf '' > '${heard}'; ${line}`);
    const { page, faults } = await openTerminal(scene);
    await takeOver(page).click();
    await typing(page).waitFor();
    await page.keyboard.press('Control+j');
    await rows(page).getByText('asked').waitFor();
    await rows(page).getByText('a link').click({ force: true });
    await page.keyboard.type('typed');
    await expect.poll(() => readFileSync(heard, 'latin1')).toContain('typed');
    const own = readFileSync(heard, 'latin1');
    // The same questions, with no page that could answer.
    await page.goto(`${scene.served.server.url}/board`);
    tmux.run('kill-session', '-t', `=copse-${TASK}`);
    tmux.start(TASK, `printf '' > '${heard}'; ${line}`);
    await expect.poll(() => tmux.screen(TASK)).toContain('ready');
    tmux.run('send-keys', '-t', `copse-${TASK}:`, 'C-j');
    await expect.poll(() => tmux.screen(TASK)).toContain('asked');
    tmux.run('send-keys', '-l', '-t', `copse-${TASK}:`, 'typed');
    await expect.poll(() => readFileSync(heard, 'latin1')).toContain('typed');
    expect(own).toBe(readFileSync(heard, 'latin1'));
    expect(await page.title()).not.toContain('owned');
    expect(page.context().pages()).toHaveLength(1);
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });

  test('writes a line of 1 MB and a flood: the page stays in hand, says what was left out, and shows the end', async () => {
    // So little is kept that no page keeps up.
    await using scene = await inTerminal({ terminals: { bufferBytes: 16_384 } });
    const flood = path.join(area, 'flood');
    const controls = '\u001b[31m\u001b[2J\u001b[?1049h\u001b[H\u001b[?1003h'.repeat(10_000);
    writeFileSync(flood, `${'x'.repeat(1_000_000)}\n${controls}\u001b[?1049l\u001b[?1003l\n`);
    const line = `echo ready; read -r _; while [ ! -e '${flood}.over' ]; do cat '${flood}'; done; printf '\\033c'; echo over; exec cat`;
    tmux.start(TASK, line);
    const { page, faults } = await openTerminal(scene);
    tmux.run('send-keys', '-t', `copse-${TASK}:`, 'Enter');
    await page.locator('[data-kind=gap]').getByText('left out').waitFor();
    await page.getByRole('button', { name: 'Keys' }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    writeFileSync(`${flood}.over`, '');
    await rows(page).getByText('over').waitFor();
    await shoot(page, 'task-terminal-gap-1440');
    await expectAccessible(page);
    expect(faults).toStrictEqual([]);
    await page.context().close();
  });
});

// promise: output-only-open
describe('the terminal on the page', () => {
  test.each([
    ['1440', LAPTOP],
    ['390', PHONE],
  ] as const)(
    'fits at %s without a WebGL context, and is closed when the page is left',
    async (size, screen) => {
      await using scene = await inTerminal({ terminals: { lingerMs: 10 } });
      const colours = String.raw`printf '\033[31mred \033[32mgreen \033[33myellow \033[34mblue \033[90mgrey\033[0m\n'`;
      tmux.start(TASK, `${colours}; seq 30; echo ready; exec cat`);
      const { page, faults } = await openBoard(scene, screen);
      await page.addInitScript(`
      const before = HTMLCanvasElement.prototype.getContext;
      globalThis.contexts = [];
      HTMLCanvasElement.prototype.getContext = function (kind, ...others) {
        globalThis.contexts.push(kind);
        return before.call(this, kind, ...others);
      };
    `);
      const sockets: { isClosed(): boolean; url(): string }[] = [];
      page.on('websocket', (socket) => sockets.push(socket));
      await page.goto(`${scene.served.server.url}${TERMINAL}`);
      await rows(page).getByText('ready').waitFor();
      await expectFits(page);
      await expectAccessible(page);
      await shoot(page, `task-terminal-${size}`);
      expect(
        await page.evaluate('globalThis.contexts.filter((kind) => kind.startsWith("webgl"))'),
      ).toStrictEqual([]);
      expect(tmux.controlClients(TASK)).toBe(1);
      await page.getByRole('tab', { name: 'Timeline' }).click();
      const outputs = () => sockets.filter((socket) => socket.url().includes('/output'));
      await expect.poll(() => outputs().map((socket) => socket.isClosed())).toStrictEqual([true]);
      await expect.poll(() => tmux.controlClients(TASK)).toBe(0);
      await page.getByRole('tab', { name: 'Output' }).click();
      await rows(page).getByText('ready').waitFor();
      await page.getByRole('link', { name: 'Board' }).click();
      await expect.poll(() => outputs().map((socket) => socket.isClosed())).toStrictEqual([true, true]);
      await expect.poll(() => tmux.controlClients(TASK)).toBe(0);
      await region(page).waitFor({ state: 'detached' });
      expect(faults).toStrictEqual([]);
      await page.context().close();
    },
  );

  test('waits for an agent that is still starting, and then shows it', async () => {
    await using scene = await inTerminal();
    const { page } = await openPage(browser, scene.served.server, TERMINAL);
    await page.getByText('There is no terminal').waitFor();
    await takeOver(page).click();
    await toast(page).getByText('has no terminal').waitFor();
    await shoot(page, 'task-terminal-none-1440');
    expect(await rows(page).innerText()).not.toContain('ready');
    tmux.start(TASK, 'echo ready; exec cat');
    await rows(page).getByText('ready').waitFor();
    await page.getByText('● live', { exact: true }).waitFor();
    await page.context().close();
  });
});
