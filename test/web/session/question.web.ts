/** An agent asks for a permission: the page of its task shows it at once, and the answer is given there. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { finished, newArea, startCopse } from '../../support/cli.ts';
import { openBrowser, openPage } from '../../support/server/browser.ts';
import { expectAccessible, shoot } from '../../support/server/page-checks.ts';
import { serveRepository } from '../../support/server/served-repository.ts';

const area = newArea();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  endAgents(area);
});

/** Speaks the Agent Client Protocol: it asks for a line of shell for each prompt, and says what it was told. */
const ASKER = `
import { execSync } from 'node:child_process';
import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const say = (text) =>
  send({ method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', messageId: text, content: { type: 'text', text } } } });
const commands = ['rm -rf <b>everything</b>', 'echo kept > kept.txt && git add kept.txt && git commit --quiet --message "feat: keep"'];
let prompt;
let asked = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentInfo: { name: 'asker' }, agentCapabilities: {} } });
  else if (method === 'session/new') send({ id, result: { sessionId: 's' } });
  else if (method === 'session/prompt') {
    prompt = id;
    say('I was told: ' + params.prompt.map(({ text }) => text).join(' '));
    if (asked === commands.length) { send({ id, result: { stopReason: 'end_turn' } }); continue; }
    const command = commands[asked];
    asked += 1;
    const options = ['allow_once', 'reject_once'].map((kind) => ({ optionId: kind, kind, name: kind }));
    const toolCall = { toolCallId: String(asked), title: command, kind: 'execute', rawInput: { command } };
    send({ id: 900 + asked, method: 'session/request_permission', params: { sessionId: 's', toolCall, options } });
  } else if (id > 900) {
    if (result.outcome.optionId === 'allow_once') execSync(commands[id - 901]);
    send({ id: prompt, result: { stopReason: 'end_turn' } });
  } else send({ id, result: {} });
}
`;

/** A person who presses Allow in the moment in which the next question appears. */
const ALLOW_AT_ONCE = `new MutationObserver((_, observer) => {
  const section = document.querySelector('section[aria-label="Its agent asks"]');
  if (!section?.textContent.includes('echo kept')) return;
  observer.disconnect();
  [...section.querySelectorAll('button')].find(({ textContent }) => textContent === 'Allow').click();
}).observe(document.body, { subtree: true, childList: true, characterData: true })`;

const asks = (page: Page) => page.getByRole('region', { name: 'Its agent asks' });

test('by keyboard: deny and say why, then allow; the agent goes on each time, and the page shows it', async () => {
  const program = path.join(area, 'asker.mjs');
  writeFileSync(program, ASKER);
  const scene = newScene(area, {
    agents: { asker: { runtime: 'acp', permissions: 'ask', command: [process.execPath, program] } },
    sections: { landing: { policy: 'review' } },
  });
  const id = await scene.add('Keep', '');
  await using served = await serveRepository(scene.folder);
  const orchestrator = startCopse(['orchestrate'], scene.at);
  const ended = finished(orchestrator);
  try {
    const { page, faults } = await openPage(browser, served.server, `/tasks/${id}?part=output`);
    await asks(page).getByText('rm -rf <b>everything</b>').waitFor();
    await asks(page)
      .getByText(/^asked \d+ s ago$/)
      .waitFor();
    await expectAccessible(page);
    await shoot(page, 'task-question-1440');
    const deny = asks(page).getByRole('button', { name: 'Deny and say why' });
    await deny.focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('What its agent is told instead').fill('Keep them all.');
    await page.evaluate(ALLOW_AT_ONCE);
    await page.getByRole('dialog').getByRole('button', { name: 'Deny and say why' }).click();
    await asks(page).getByText('echo kept').waitFor();
    const allow = asks(page).getByRole('button', { name: 'Allow' });
    expect(await allow.getAttribute('data-command')).toMatch(
      new RegExp(`^copse answer ${id} allow --question qu-\\w+$`),
    );
    await page.getByTestId('toast').getByText('asks this only now').waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog');
    await palette.getByText('Allow what its agent asks for').waitFor();
    await page.keyboard.press('Enter');
    await palette.getByText('echo kept').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'detached' });
    await asks(page).getByText('echo kept').waitFor();
    // Its answers count a second after it appeared.
    await setTimeout(1_000);
    await allow.focus();
    await page.keyboard.press('Enter');
    await asks(page).waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
    await page.locator('dd[data-status=in_review]').waitFor();
    await page.getByRole('tab', { name: 'Output' }).click();
    const lines = page.getByRole('region', { name: 'Lines of output' });
    await lines.getByText('Keep them all.').waitFor();
    expect(scene.git('show', `${id}/keep:kept.txt`)).toBe('kept');
    expect(faults).toStrictEqual([]);
  } finally {
    orchestrator.kill('SIGINT');
    await ended;
  }
});
