/** Every command that a text names can be pasted into bash as it is, and `copse` knows it. */

import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { topics } from '../../../packages/copse/src/cli/program/help.ts';
import { topicText } from '../../../packages/copse/src/cli/program/topics.ts';
import { copse, newArea, newRepository } from '../../support/cli.ts';
import { everyCommand } from '../../support/command-tree.ts';
import { commandsIn, expectPasteable } from '../../support/pasted.ts';

const area = newArea();
const root = fileURLToPath(new URL('../../..', import.meta.url));

function filesBelow(folder: string, ending: string): readonly string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => path.join(root, folder, file));
}

describe('the check itself', () => {
  test.each([
    ['a remark in parentheses', '  → copse merge cp-a1b2 (lands it now)'],
    ['an unknown option', '  → copse merge cp-a1b2 --nonsense'],
    ['an unknown command', 'Try: copse land cp-a1b2'],
    ['a word too many', 'Run `copse why cp-a1b2 please`.'],
    ['an open quote', '  → copse add "Title'],
    ['a remark of the shell', '  → copse merge cp-a1b2 # lands it now'],
    ['a name between angle brackets', '  → copse merge <id>'],
  ])('finds %s', async (_, text) => {
    await expect(expectPasteable([text])).rejects.toThrow('to deeply equal []');
  });

  test('takes quoted signs of the shell, several commands and other programs', async () => {
    const text = '  → copse add "Issue #7 in <main>"\nNow: copse work cp-a1b2 && git status';
    expect(await expectPasteable([text])).toEqual([
      'copse add "Issue #7 in <main>"',
      'copse work cp-a1b2 && git status',
    ]);
  });
});

test('help of all commands and topics', async () => {
  const commands = everyCommand().map(({ command }) => command);
  const lines = commands.flatMap(({ exampleLines }) => exampleLines.map(({ line }) => `  → ${line}`));
  const paragraphs = commands.flatMap(({ explanations }) => explanations);
  // So wide that nothing is wrapped.
  const pages = (Object.keys(topics) as (keyof typeof topics)[]).map((topic) => topicText(topic, 10_000));
  const found = await expectPasteable([...lines, ...paragraphs, ...pages], { isHelp: true });
  expect(found.length).toBeGreaterThan(50);
});

test('no message outside the pages of help names a command with <…>', () => {
  const pages = ['cli/program/', 'agents/rules/briefing/'];
  const files = filesBelow('packages/copse/src', '.ts').filter(
    (file) => !pages.some((one) => file.includes(one)),
  );
  const wrong = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => /['"`(: ]copse [a-z][^()]*<[a-z ]+>/.test(line) && !/^\s*(?:\/?\*|\/\/)/.test(line))
      .map((line) => `${path.relative(root, file)}: ${line.trim()}`),
  );
  expect(files.length).toBeGreaterThan(300);
  expect(wrong).toEqual([]);
});

test('pictures of the screens', async () => {
  const pictures = filesBelow('test/cli/rules', '.txt').map((file) => readFileSync(file, 'utf8'));
  const texts = pictures.map((text) => text.replaceAll(/ *│? *$/gm, ''));
  expect((await expectPasteable(texts)).length).toBeGreaterThan(5);
});

test('doctor, status, list, queue, inbox and mistakes in an empty repository', async () => {
  const at = { cwd: newRepository(area) };
  const texts: string[] = [];
  const lines = [
    'doctor',
    'status',
    'list',
    'queue',
    'inbox',
    'worktrees',
    'radar',
    'cost',
    'stats',
    'agents',
  ];
  const mistakes = [
    'orchestrate',
    'work',
    'finish',
    'switch',
    'why cp-zzzz',
    'lst',
    'board restore',
    'watch',
  ];
  for (const line of [...lines, ...mistakes, 'add One', 'status', 'init', 'init', 'agents detect']) {
    const { stdout, stderr } = await copse(line.split(' '), at);
    texts.push(stdout, stderr);
  }
  const commands = await expectPasteable(texts);
  expect(commands).toContain('copse agents detect');
});

test('no source writes a remark in parentheses behind a command', () => {
  const found = filesBelow('packages/copse/src', '.ts').flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => /(?<=['`"]|→ )copse [a-z][^'"`(]*(?<![$\w]) ?\([a-z][^'"`]*\)['"`]/.test(line))
      .filter((line) => commandsIn(`  → ${/copse .*/.exec(line)?.[0] ?? ''}`).length > 0)
      .map((line) => `${path.relative(root, file)}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

describe('a command that is pasted with … for a text', () => {
  test.each([
    [['add', '…'], 'Replace … with your text.'],
    [['restart', 'cp-a1b2', '--answer', '…'], 'Replace … with your answer.'],
    [['review', 'cp-a1b2', '--send-back', ' … '], 'Replace … with your comment.'],
    [['ledger', 'add', 'learning', '…'], 'Replace … with your text.'],
    [['resume', 'cp-a1b2', '--command', '…'], 'Replace … with the command of your agent.'],
  ])('is refused: %j', async (line, reason) => {
    const at = { cwd: newRepository(area) };
    const { code, stderr } = await copse(line, at);
    expect(stderr).toContain(reason);
    expect(code).toBe(2);
  });

  test('but … inside a text is a text', async () => {
    const { code } = await copse(['add', 'Wait', '…'], { cwd: newRepository(area) });
    expect(code).toBe(0);
  });
});
