/** The last line of an agent's output, whatever the agent made of the file. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { lastLineOf } from '../../../packages/copse/src/agents/files/attempt-log.ts';
import { type AttemptId, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { scratchFolder } from '../../support/scratch.ts';

const home = mkdtempSync(path.join(scratchFolder(), 'copse log ü '));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const task = brand<TaskId>('cp-a1b2');
const attempt = brand<AttemptId>('at-one');
const folder = path.join(home, '.copse', 'logs', task);
const file = path.join(folder, `${attempt}.log`);

function logged(content: string | Buffer): string | null {
  rmSync(path.dirname(folder), { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, content);
  return lastLineOf(home, task, attempt);
}

test.each([
  ['one line', 'only', 'only'],
  ['the last of several, without empty ones', 'first\nsecond\n\n  \n', 'second'],
  ['the last state of a line that was redrawn', '10 %\r50 %\r100 %\r', '100 %'],
  ['a tab', 'a\tb\n', 'a b'],
  ['nothing', '', null],
  ['only control characters', '\u0007\u001b[2J\n', null],
  ['colours and titles', '\u001b[31mred\u001b[0m \u001b]0;owned\u0007text\n', 'red text'],
  ['an escape sequence that does not end', 'text\u001b[', 'text['],
  ['C1 controls and controls of text direction', 'a\u009bb\u202ec\u2066d\u007f', 'abcd'],
])('%s', (_, content, line) => {
  expect(logged(content)).toBe(line);
});

test('no control character gets through', () => {
  const all = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).join('x');
  expect(logged(`begin ${all} end`)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});

test('a line of a megabyte is cut, and so is one whose first character is half outside', () => {
  expect(logged('x'.repeat(1024 ** 2))).toBe('x'.repeat(400));
  expect(logged('林'.repeat(100_000))).toBe('林'.repeat(400));
  expect(logged('😀'.repeat(100_000))?.isWellFormed()).toBe(true);
});

test('bytes that are not text are no error', () => {
  expect(logged(Buffer.from([0xff, 0xfe, 0x61, 0xc3]))).toBe('a');
});

test('a pipe, a link, a folder and a link in the place of its folder are read as no output', () => {
  const elsewhere = path.join(home, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(path.join(elsewhere, `${attempt}.log`), 'secret');
  logged('');
  rmSync(file);
  execFileSync('mkfifo', [file]);
  expect(lastLineOf(home, task, attempt)).toBeNull();
  rmSync(file);
  symlinkSync(path.join(elsewhere, `${attempt}.log`), file);
  expect(lastLineOf(home, task, attempt)).toBeNull();
  rmSync(file);
  mkdirSync(file);
  expect(lastLineOf(home, task, attempt)).toBeNull();
  rmSync(folder, { recursive: true });
  symlinkSync(elsewhere, folder);
  expect(lastLineOf(home, task, attempt)).toBeNull();
  rmSync(folder);
  expect(lastLineOf(home, task, attempt)).toBeNull();
});
