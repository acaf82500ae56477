/** The output of an agent, page by page: a program reads on where it stopped, and misses and repeats nothing. */

import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { withAccess } from '../../../packages/copse/src/compose/operations/access.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { act, view } from '../../../packages/copse/src/operations/agents/logs.ts';
import { answer, copse, newArea, newRepository, plainEnv, printed } from '../../support/cli.ts';
import { oneOfEach, tell } from '../../support/records/stories.ts';

const { pageBytes, documentBytes } = defaultPolicy.agentOutput;
const area = newArea();
const cwd = newRepository(area);
/** The agent of the first still works; that of the second has ended. */
const [WORKING, ENDED] = ['cp-aaaa', 'cp-dddd'];

beforeAll(async () => {
  await printed(['list'], { cwd });
  await tell(cwd, oneOfEach);
});

async function logOf(task: string): Promise<{ readonly attempt: string; readonly file: string }> {
  const { attempts } = await answer<{ attempts: readonly { id: string }[] }>(['show', task], { cwd });
  const attempt = attempts.at(-1)?.id ?? expect.fail(`${task} has no attempt`);
  const folder = path.join(cwd, '.copse', 'logs', task);
  mkdirSync(folder, { recursive: true });
  return { attempt, file: path.join(folder, `${attempt}.log`) };
}

const read = (input: Parameters<typeof act>[1]) =>
  withAccess({ cwd, env: plainEnv }, async (access) => view(await act(access, input)).logs[0]);

/** All lines, and how many pages they took. */
async function readOn(task: string, attempt: string) {
  const lines: string[] = [];
  let after = 0;
  for (let pages = 1; ; pages += 1) {
    const page = (await read({ task, attempt, after })) ?? expect.fail('no page');
    lines.push(...page.lines);
    if (page.next === after) return { lines, pages, next: after };
    after = page.next ?? expect.fail('no next');
  }
}

describe('pages', () => {
  test('together have every line once, though each is small', async () => {
    const { attempt, file } = await logOf(WORKING);
    const written = Array.from({ length: 9_000 }, (_, index) => `${index} ${'ü'.repeat(index % 60)}`);
    writeFileSync(file, `${written.join('\n')}\n`);
    const { lines, pages } = await readOn(WORKING, attempt);
    expect(lines).toEqual(written);
    expect(pages).toBeGreaterThan(2);
  });

  test('have the rest of a line when its agent has written it, or has ended', async () => {
    for (const { task, first } of [
      { task: WORKING, first: ['one'] },
      { task: ENDED, first: ['one', 'tw'] },
    ]) {
      const { attempt, file } = await logOf(task);
      writeFileSync(file, 'one\ntw');
      const { lines, next } = await readOn(task, attempt);
      expect({ task, lines }).toEqual({ task, lines: first });
      appendFileSync(file, 'o\n');
      expect(await read({ task, attempt, after: next })).toMatchObject({
        lines: [task === ENDED ? 'o' : 'two'],
      });
    }
  });

  test('begin at the last lines, and continue from there', async () => {
    const { attempt, file } = await logOf(WORKING);
    writeFileSync(file, 'one\ntwo\nthree\n');
    const last = await read({ task: WORKING, attempt, lines: 1 });
    expect(last).toMatchObject({ lines: ['three'], isWhole: false, next: 14 });
    appendFileSync(file, 'four\n');
    expect(await read({ task: WORKING, attempt, after: 14 })).toMatchObject({ lines: ['four'], next: 19 });
  });

  test('split a line that is longer than a page', async () => {
    const { attempt, file } = await logOf(WORKING);
    writeFileSync(file, `${'x'.repeat(pageBytes + 10)}\n`);
    const { lines } = await readOn(WORKING, attempt);
    expect(lines.map((line) => line.length)).toEqual([pageBytes, 10]);
  });

  test('need the attempt that they are of', async () => {
    await expect(read({ task: WORKING, after: 0 })).rejects.toMatchObject({ failure: { code: 'invalid' } });
    await expect(read({ task: WORKING, attempt: 'at-no' })).rejects.toMatchObject({
      failure: { code: 'not_found', next: [`copse show ${WORKING}`] },
    });
  });
});

test('a document has at most 16 MB of a log, its end', async () => {
  const { file } = await logOf(ENDED);
  writeFileSync(file, `${'x'.repeat(documentBytes)}\nlast\n`);
  const log = await read({ task: ENDED, all: true });
  expect(log).toMatchObject({ isWhole: false });
  expect(log?.lines.at(-1)).toBe('last');
  expect(log?.lines[0]?.length).toBe(documentBytes - 'x\nlast\n'.length + 1);
});

test('a log that is a link is none: an agent could show a file that it cannot read', async () => {
  const { attempt, file } = await logOf(ENDED);
  const secret = path.join(area, 'secret');
  writeFileSync(secret, 'a secret\n');
  rmSync(file);
  symlinkSync(secret, file);
  await expect(read({ task: ENDED, attempt })).rejects.toMatchObject({ failure: { code: 'not_found' } });
  const { code, stdout } = await copse(['logs', ENDED], { cwd });
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
});

test('an agent reads the output of its own task only', async () => {
  await logOf(WORKING);
  const env = { ...plainEnv, COPSE_SESSION_ID: 'se-other', COPSE_TOKEN: '1' };
  await expect(withAccess({ cwd, env }, (access) => act(access, { task: WORKING }))).rejects.toMatchObject({
    failure: { code: 'not_this_session' },
  });
});
