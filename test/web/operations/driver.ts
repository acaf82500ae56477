/** Does an operation in the palette with the mouse alone, with the keyboard alone, or by the command line that the palette shows. */

import { execFileSync } from 'node:child_process';

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { type RunOptions, copse } from '../../support/cli.ts';

export const ways = ['mouse', 'keyboard', 'command line'] as const;

export type Way = (typeof ways)[number];

export type Fields = Readonly<Record<string, string | true>>;

/** What the person sees of the answer. */
export async function perform(
  page: Page,
  way: Way,
  name: string,
  fields: Fields,
  at: RunOptions,
): Promise<string> {
  if (way === 'keyboard') await fillByKeyboard(page, name, fields);
  else await fillByMouse(page, name, fields);
  const form = page.locator(`form[data-operation="${name}"]`);
  const line = (await form.getByTestId('command').textContent()) ?? '';
  expect(line).toMatch(/^copse \w[^…]*$/);
  if (way === 'command line') {
    await leaveForm(page);
    return printedBy(line, at);
  }
  // A person reads what the form shows, so the form waits for it, too.
  const submit = form.locator('button[type="submit"][aria-disabled="false"]');
  await submit.waitFor();
  if (way === 'mouse') await submit.click();
  else {
    await tabTo(page, `form[data-operation="${name}"] button[type="submit"]`);
    await page.keyboard.press('Enter');
  }
  const answer = page.getByRole('region', { name: 'Answer' });
  const refusal = form.getByRole('alert');
  await answer.or(refusal).first().waitFor({ timeout: 30_000 });
  if (await refusal.isVisible()) throw new Error(`${line}: ${await refusal.textContent()}`);
  const text = (await answer.textContent()) ?? '';
  expect(await answer.getByTestId('command').textContent()).toBe(line);
  if (way === 'mouse') await answer.getByRole('button', { name: 'Close' }).click();
  else await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  return text;
}

/** Escape asks first about what was typed. */
export async function leaveForm(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  const throwAway = page.getByRole('button', { name: 'Throw it away' });
  await expect
    .poll(async () => {
      if (await throwAway.isVisible()) await throwAway.click();
      return page.getByRole('dialog').count();
    })
    .toBe(0);
}

async function fillByMouse(page: Page, name: string, fields: Fields): Promise<void> {
  await page.getByRole('button', { name: 'Search' }).click();
  await page.locator(`[cmdk-item][data-value="${name}"]`).click();
  const form = page.locator(`form[data-operation="${name}"]`);
  for (const [field, value] of Object.entries(fields)) {
    const input = form.locator(`[name="${field}"]`);
    if (value === true) await input.check();
    else if ((await input.evaluate((element) => element.nodeName)) === 'SELECT')
      await input.selectOption(value);
    else if ((await input.getAttribute('type')) === 'file') await input.setInputFiles(value);
    else await input.fill(value);
  }
}

async function fillByKeyboard(page: Page, name: string, fields: Fields): Promise<void> {
  await page.getByRole('button', { name: 'Search' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('A page, a task, or a command').waitFor();
  await page.keyboard.type(name);
  await expect
    .poll(() => page.locator('[cmdk-item][aria-selected="true"]').getAttribute('data-value'))
    .toBe(name);
  await page.keyboard.press('Enter');
  await page.locator(`form[data-operation="${name}"]`).waitFor();
  for (const [field, value] of Object.entries(fields)) {
    const selector = `form[data-operation="${name}"] [name="${field}"]`;
    await tabTo(page, selector);
    const input = page.locator(selector);
    if (value === true) await page.keyboard.press('Space');
    else if ((await input.getAttribute('type')) === 'file') {
      const chooser = page.waitForEvent('filechooser');
      await page.keyboard.press('Space');
      await (await chooser).setFiles(value);
    } else await page.keyboard.type(value);
  }
}

/** As a person does who has no mouse: the focus must come there, and be seen there. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let tabs = 0; tabs < 40; tabs += 1) {
    if ((await page.locator(selector).and(page.locator(':focus')).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`No Tab leads to ${selector}`);
}

/** Asking is for people: a program says yes. What only looks may end with a code of its own. */
const ASK: ReadonlySet<string> = new Set(['delete', 'config']);

async function printedBy(line: string, at: RunOptions): Promise<string> {
  // A shell reads it, as that of a person would.
  const words = execFileSync('bash', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' });
  const [, ...argv] = words.split('\0').slice(0, -1);
  const isAsking = ASK.has(argv[0] ?? '') && (argv[1] === 'accept' || argv[0] === 'delete');
  const { code, stdout, stderr } = await copse([...argv, ...(isAsking ? ['--yes'] : [])], at);
  if (argv[0] !== 'doctor') expect({ line, code, stderr }).toMatchObject({ line, code: 0 });
  return stdout;
}
