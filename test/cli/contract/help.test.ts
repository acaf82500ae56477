/** Help of every command, topics, and what a mistyped command line is told. */

import { describe, expect, test } from 'vitest';

import { effects } from '../../../packages/copse/src/cli/program/effects.ts';
import { topics } from '../../../packages/copse/src/cli/program/help.ts';
import { taskStatuses } from '../../../packages/copse/src/tasks/rules/task.ts';
import { copse, newArea, printed } from '../../support/cli.ts';
import { everyCommand, runnableCommands } from '../../support/command-tree.ts';

const area = newArea();
const at = { cwd: area };
const commands = everyCommand();
const visible = commands.filter(({ path }) => path !== 'hook');

function tooWide(text: string): readonly string[] {
  return text.split('\n').filter((line) => Array.from(line).length > 80);
}

describe('copse --help', () => {
  test('fits on a screen of 80 × 40 and names every command', async () => {
    const text = await printed(['--help'], at);
    expect(tooWide(text)).toEqual([]);
    expect(text.split('\n').length).toBeLessThanOrEqual(40);
    const words = new Set(text.split(/[\s,]+/));
    const missing = visible.filter(({ path, command }) => !path.includes(' ') && !words.has(command.name()));
    expect(missing.map(({ path }) => path)).toEqual([]);
    expect(await printed(['-h'], at)).toBe(text);
    expect(await printed(['help'], at)).toBe(text);
  });

  test('has its groups in this order, with the daily commands first', async () => {
    const text = await printed(['--help'], at);
    expect([...text.matchAll(/^ {0,2}([A-Z][\w -]+):/gm)].map(([, name]) => name)).toEqual([
      'Usage',
      'Daily',
      'Tasks',
      'Agents',
      'Worktrees',
      'Landing',
      'Work that comes in',
      'Machines',
      'Set-up',
      'For agents',
      'Topics',
    ]);
  });

  test('help all has a line for every command', async () => {
    const text = await printed(['help', 'all'], at);
    expect(tooWide(text)).toEqual([]);
    for (const { path, command } of visible.filter((one) => !one.path.includes(' ')))
      expect({ path, is: text.includes(`\n  ${command.name()} `) }).toEqual({ path, is: true });
  });
});

describe('the help of every command', () => {
  test('fits 80 columns, describes it and its words, and needs no repository', async () => {
    for (const { path, command } of commands) {
      const text = await printed([...path.split(' '), '--help'], at);
      expect({ path, wide: tooWide(text) }).toEqual({ path, wide: [] });
      const [use = '', empty, description] = text.split('\n');
      expect(use).toContain(`Usage: copse ${path.split(' ')[0]}`);
      expect(empty).toBe('');
      expect(description).toMatch(/^[A-Z].+/);
      for (const { flags, description: says } of command.options)
        expect({ path, flags, isTold: says !== '' }).toEqual({ path, flags, isTold: true });
      expect(await printed(['help', ...path.split(' ')], at)).toContain(text.trimEnd());
    }
  });

  test('has --yes where the command asks before it changes something', () => {
    const withYes = commands.filter(({ command }) => command.options.some(({ long }) => long === '--yes'));
    expect(withYes.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['board restore', 'cleanup', 'config', 'init']),
    );
  });

  test('has two examples that use the command', () => {
    for (const [path, command] of runnableCommands()) {
      if (path === 'hook') continue;
      const names = [command.name(), ...command.aliases()];
      const fitting = command.exampleLines.filter(({ line }) =>
        names.some((name) => line.includes(`copse ${[...path.split(' ').slice(0, -1), name].join(' ')}`)),
      );
      expect({ path, count: fitting.length >= 2 }).toEqual({ path, count: true });
    }
  });
});

describe('copse help <topic>', () => {
  test.each(Object.keys(topics))('%s fits 80 columns and names only commands that exist', async (topic) => {
    const text = await printed(['help', topic], at);
    expect(tooWide(text)).toEqual([]);
    const known = new Set(commands.flatMap(({ command }) => [command.name(), ...command.aliases()]));
    for (const [, name = ''] of text.matchAll(/\bcopse ([a-z-]+)/g))
      expect({ topic, name, known: known.has(name) }).toEqual({ topic, name, known: true });
  });

  test('states explains every status', async () => {
    const text = await printed(['help', 'states'], at);
    for (const status of taskStatuses)
      expect(text).toMatch(new RegExp(`^  ${status}\n      [A-Z].*\\.`, 'm'));
  });

  test('agents is a command and a topic, and machines may be called several machines', async () => {
    const text = await printed(['help', 'agents'], at);
    expect(text).toContain('Usage: copse agents');
    expect(text).toContain('\nTopic agents: which programs can be agents, and how they run\n\n');
    expect(text).toContain('Runtimes: ');
    expect(await printed(['help', 'several', 'machines'], at)).toBe(await printed(['help', 'machines'], at));
  });

  test('suggests for a topic that does not exist', async () => {
    expect(await copse(['help', 'sttes'], at)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'copse: There is no command or topic "sttes". Did you mean states?\n  → copse help states\n  → copse help\n',
    });
  });
});

describe('a mistyped command', () => {
  test('every command is either reading or changing', () => {
    expect(Object.keys(effects).toSorted()).toEqual([...runnableCommands().keys()].toSorted());
  });

  test('never leads to a command that changes something', async () => {
    for (const { path } of commands) {
      const words = path.split(' ');
      const last = words.pop() ?? '';
      for (const typo of typosOf(last)) {
        if (commands.some((one) => [...words, typo].join(' ') === one.path)) continue;
        const { code, stderr } = await copse([...words, typo], at);
        if (code === 0) continue;
        const meant = /Did you mean ([a-z-]+)\?/.exec(stderr)?.[1];
        const effect = meant && (effects[[...words, meant].join(' ')] ?? 'group');
        expect({ typo, meant, code, isHarmless: effect !== 'changes' }).toMatchObject({
          code: 2,
          isHarmless: true,
        });
      }
    }
  });

  test.each([
    [['lst'], 'There is no command "lst". Did you mean list?'],
    [['delte', 'a1b2'], 'There is no command "delte".'],
    [['cancle', 'a1b2'], 'There is no command "cancle".'],
    [['quue'], 'There is no command "quue". Did you mean queue?'],
    [['quue', 'pause'], 'There is no command "quue".'],
    [['plan', 'shw', 'x'], 'copse plan has no command "shw". Did you mean show?'],
    [['plan', 'ad', 'x'], 'copse plan has no command "ad".'],
    [['plan'], 'copse plan needs a command: add, show, list.'],
    [['edit'], 'copse edit needs <id>: a task id, or the unique beginning of one.'],
    [['show', 'a', 'b'], 'copse show takes at most one argument; "b" is too many.'],
    [['list', 'extra'], 'copse list takes no argument: "extra".'],
    [['queue', 'foo'], 'copse queue has no command "foo".'],
    [['help', '--all'], 'copse help has no option "--all".'],
    [['list', '--stauts', 'x'], 'copse list has no option "--stauts". Did you mean --status?'],
    [['delete', 'a1b2', '--keep'], 'copse delete has no option "--keep". Did you mean --keep-worktree?'],
    [['list', '--status'], '--status <statuses> needs a value'],
    [['add', '-x'], 'copse add has no option "-x".'],
    [['merge', 'a1b2', '--json=x'], '--json takes no value: "x".'],
  ])('%j is explained', async (argv, says) => {
    const { code, stdout, stderr } = await copse(argv, at);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const [first = ''] = stderr.split('\n');
    // A whole sentence is all that is said.
    if (/[.?]$/.test(says)) expect(first).toBe(`copse: ${says}`);
    else expect(first).toContain(says);
    expect(stderr).toMatch(/^ {2}→ copse .*(help|list|queue|show)/m);
  });

  test('an option of help that is the word for a page leads to that page', async () => {
    for (const word of ['all', 'states', 'add']) {
      const { stderr } = await copse(['help', `--${word}`], at);
      expect(stderr).toContain(`\n  → copse help ${word}\n`);
      expect(await copse(['help', word], at)).toMatchObject({ code: 0 });
    }
  });
});

/** Neighbours swapped, one letter missing, one letter doubled: at most three of each word. */
function typosOf(word: string): readonly string[] {
  const middle = Math.floor(word.length / 2);
  return [
    word.slice(0, middle - 1) + (word[middle] ?? '') + (word[middle - 1] ?? '') + word.slice(middle + 1),
    word.slice(0, middle) + word.slice(middle + 1),
    word.slice(0, middle) + (word[middle] ?? '') + word.slice(middle),
  ];
}
