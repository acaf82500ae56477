/** A real browser (Debian's chromium) at a real server. */

import { existsSync } from 'node:fs';

import { type Browser, type BrowserContextOptions, type Page, chromium } from 'playwright-core';

const PROGRAM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((file) =>
  existsSync(file),
);

/** One for all tests of a file. */
/** `args`: more options of chromium. */
export function openBrowser(args: readonly string[] = []): Promise<Browser> {
  if (PROGRAM === undefined) throw new Error('chromium is not installed');
  // A container has no user namespace for the sandbox of the browser; the pages are our own.
  return chromium.launch({
    executablePath: PROGRAM,
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...args],
  });
}

export const LAPTOP = { viewport: { width: 1440, height: 900 } } as const;
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

export interface OpenedPage {
  readonly page: Page;
  /** What the page logged as an error, and every request that left this server. */
  readonly faults: readonly string[];
}

/** Opens a page as a person does who follows the printed address with its code. */
export function openPage(
  browser: Browser,
  server: { readonly url: string; readonly keys: { newCode(): string } },
  path: string,
  options: BrowserContextOptions = LAPTOP,
): Promise<OpenedPage> {
  return enterPage(browser, `${server.url}${path}#code=${server.keys.newCode()}`, options);
}

/** The same with an address that a server printed. */
export async function enterPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = LAPTOP,
): Promise<OpenedPage> {
  const { origin } = new URL(address);
  const context = await browser.newContext(options);
  const page = await context.newPage();
  // A machine that is busy with other tests takes its time.
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  // The console does not say which request it was, and why.
  page.on('response', (response) => {
    if (response.status() < 500) return;
    const of = `${response.status()} for ${response.request().method()} ${response.url()}`;
    void response.text().then((text) => faults.push(`${of}: ${text}`));
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (
      !url.startsWith(origin) &&
      !/^(data|blob):/.test(url) &&
      !url.startsWith(origin.replace('http', 'ws'))
    )
      faults.push(`a request to ${url}`);
  });
  await page.addInitScript(`addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    console.error('The policy of the page refused ' + blockedURI + ' (' + violatedDirective + ')'));`);
  await page.goto(address);
  // The code counts once: a page that is left before it has the token has none.
  while (!(await page.evaluate(`sessionStorage.getItem('copse.token') !== null`)))
    await page.waitForTimeout(10);
  return { page, faults };
}
