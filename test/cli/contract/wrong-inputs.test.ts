/**
 * Wrong inputs to every command, made from the tree of commands: each is explained in one line with a next command and the right
 * exit code, and changes neither the board nor the repository. Each run tries a part of them; COPSE_WRONG_INPUTS=1000 tries all.
 */

import { readdirSync } from 'node:fs';

import { beforeAll, describe, expect, test } from 'vitest';

import type { CopseCommand } from '../../../packages/copse/src/cli/program/command.ts';
import { type Scene, newScene } from '../../support/agents/scripted-agents.ts';
import { answer, copse, newArea } from '../../support/cli.ts';
import { runnableCommands } from '../../support/command-tree.ts';
import { often } from '../../support/long.ts';
import { expectPasteable } from '../../support/pasted.ts';

const area = newArea();
let scene: Scene;
let [task, plan] = ['', ''];

beforeAll(async () => {
  scene = newScene(area);
  task = await scene.add('Here', 'true');
  plan = (await answer<{ id: string }>(['plan', 'add', 'Plan'], scene.at)).id;
});

interface WrongInput {
  readonly words: readonly string[];
  readonly codes: readonly number[];
}

const USAGE = [2];
const NOT_FOUND = [2, 3];
/** Refused, because the task is not in a fitting state; or the word is fine and another one is missing. */
const REFUSED = [2, 3, 4];

const HUGE = 'x'.repeat(100_000);
/** Wrong wherever an id, a name of a thing or one of a few words is expected. */
const GARBAGE = [
  '',
  ' ',
  '\u0001\u001b[31m\u0007',
  HUGE,
  'zzzz',
  'cp-zzzz',
  'pl-zzzz',
  's-zzzz',
  '../..',
  '/does/not/exist',
  'a\nb',
  'half \ud800',
  '#',
  '99999999999999999999',
];
const OPTIONS = [
  '--nonsense',
  '-Z',
  '--jsn',
  '--verbose=1',
  '---',
  '--Help',
  '--json=yes',
  '--no-such-thing',
];

/** Values that an option refuses, with the exit codes. */
const VALUES: Readonly<Record<string, readonly [values: readonly string[], codes: readonly number[]]>> = {
  '--priority': [['p9', '', '-1', HUGE], USAGE],
  '--kind': [['cod', ''], USAGE],
  '--area': [['../x', ''], USAGE],
  '--depends': [['zzzz', 'pl-zzzz'], NOT_FOUND],
  '--not-depends': [['zzzz'], NOT_FOUND],
  '--plan': [['zzzz', 'cp-zzzz'], NOT_FOUND],
  '--task': [['zzzz', 'pl-zzzz'], NOT_FOUND],
  '--status': [['reddy', ''], USAGE],
  '--body-file': [['/does/not/exist', ''], NOT_FOUND],
  '--max-agents': [['abc', '-1', '0', '1e99', ''], USAGE],
  '--max-retries': [['abc', '-1', ''], USAGE],
  '--poll-interval': [['abc', '-1s', ''], USAGE],
  '--after': [['abc', '-1', '1.5'], USAGE],
  '--last': [['abc', '-1', '1.5'], USAGE],
  '--lines': [['abc', '-1', '1.5'], NOT_FOUND],
  '--by': [['week', ''], USAGE],
  '--since': [['yesterday-ish', ''], USAGE],
  '--speed': [['abc', '-1', '0'], USAGE],
  '--slots': [['abc', '-1', '0', ''], USAGE],
  '--node-name': [['', '-x', 'a b', 'n-0123456789ab', HUGE], USAGE],
  '--labels': [['ü', 'a b', HUGE], USAGE],
  '--within': [['abc', '-1s', '5', ''], REFUSED],
  '--to': [['zzzz', ''], NOT_FOUND],
  '--head': [['zzzz', ''], REFUSED],
  '--command': [['', ' '], REFUSED],
  '--port': [['abc', '-1', '1.5', '70000', ''], USAGE],
  '--host': [['', ' ', 'no such host', '0.0.0.0', '-x', HUGE], USAGE],
  '--tls-cert': [['/does/not/exist', ''], USAGE],
  '--tls-key': [['/does/not/exist', ''], USAGE],
  '--behind-proxy': [['', 'a b', 'http://x', HUGE], USAGE],
  '--weeks': [['abc', '-1', '0', '1.5', ''], USAGE],
  '--limit': [['abc', '-1', '0', '1.5', ''], USAGE],
  '--cursor': [['zzzz', ''], USAGE],
  '--sort': [['size', ''], USAGE],
  '--as': [['robot', ''], USAGE],
  '--attempt': [['zzzz', ''], NOT_FOUND],
  '--question': [['zzzz', ''], REFUSED],
  '--from': [['zzzz', ''], NOT_FOUND],
  '--into': [['/does/not/exist'], REFUSED],
  '--item': [['zzzz', '', 'zzzz#'], NOT_FOUND],
  '--target': [['zzzz', ''], NOT_FOUND],
  '--dir': [['', ' '], USAGE],
  '--requires': [['ü', 'a b', HUGE], USAGE],
  '--accept': [['', ' '], USAGE],
};

/** Their value is any text, or the name of an agent that may come later. */
const TEXTS = new Set([
  '--agent',
  '--answer',
  '--body',
  '--message',
  '--prompt',
  '--reason',
  '--summary',
  '--title',
]);

/** Words that a command needs before its options are looked at. */
function fittingWords(path: string, command: CopseCommand): readonly string[] {
  return command.registeredArguments
    .filter((one) => one.required)
    .map((one) => {
      if (path.startsWith('plan show')) return plan;
      const fitting: Readonly<Record<string, string>> = {
        kind: path === 'ledger add' ? 'learning' : path === 'hook' ? 'stop' : 'idle',
        phase: 'working',
        shell: 'bash',
        title: 'A title',
        text: 'A text',
        file: '/does/not/exist',
        ref: 'zzzz',
      };
      return fitting[one.name()] ?? task;
    });
}

const TITLES = ['', ' ', '\u0001\u001b[31m\u0007', HUGE, 'a\nb', 'half \ud800', '\u202e'];

function* wrongInputs(path: string, command: CopseCommand): Generator<WrongInput> {
  const words = fittingWords(path, command);
  const [first] = command.registeredArguments;
  for (const option of OPTIONS) yield { words: [...words, option], codes: USAGE };
  if (words.length > 0) yield { words: [], codes: USAGE };
  if (!command.registeredArguments.some((one) => one.variadic))
    yield { words: [...command.registeredArguments.map(() => task), 'more', 'words'], codes: USAGE };
  for (const { long, required } of command.options) {
    if (required && long) yield { words: [...words, long], codes: USAGE };
    const [values, codes] = VALUES[long ?? ''] ?? [[], USAGE];
    for (const value of values) yield { words: [...words, `${long}=${value}`], codes };
  }
  if (first === undefined) {
    for (const word of GARBAGE) yield { words: [word], codes: USAGE };
  } else if (first.name() === 'title') {
    for (const word of TITLES) yield { words: [word], codes: USAGE };
  } else {
    const others = words.slice(1);
    // Almost every text is the name of a file that can be written.
    const all = path === 'export' ? ['', ' ', HUGE, '../..', '/does/not/exist'] : GARBAGE;
    const codes = path === 'export' ? [1, ...REFUSED] : REFUSED;
    for (const word of all) yield { words: [word, ...others], codes };
  }
}

/** What must be as before. */
async function state(): Promise<object> {
  const { stdout } = await copse(['events', '--last', '1', '--json'], scene.at);
  return { stdout, refs: scene.git('for-each-ref'), files: readdirSync(scene.folder) };
}

/** Programs call `hook`; it never stops their agent. */
const commands = [...runnableCommands()]
  .map(([path, command]) => ({ path, command }))
  .filter(({ path }) => path !== 'hook');

test('every option with a value has wrong values here, or takes any text', () => {
  const takes = commands.flatMap(({ command }) => command.options.filter(({ required }) => required));
  const names = new Set(takes.map(({ long }) => long ?? ''));
  expect([...names].filter((name) => !(name in VALUES) && !TEXTS.has(name))).toEqual([]);
  expect([...Object.keys(VALUES), ...TEXTS].filter((name) => !names.has(name))).toEqual([]);
});

describe('a wrong input', () => {
  test.each(commands)('to copse $path is explained and changes nothing', async ({ path, command }) => {
    const all = [...wrongInputs(path, command)];
    expect(all.length).toBeGreaterThanOrEqual(path === 'export' ? 14 : 20);
    const stride = Math.max(
      1,
      Math.floor(all.length / often({ short: 7, long: 10, variable: 'COPSE_WRONG_INPUTS' })),
    );
    const before = await state();
    const said: string[] = [];
    // Another part of them for each command.
    for (let at = path.length % stride; at < all.length; at += stride) {
      const { words, codes } = all[at] ?? { words: [], codes: [] };
      const argv = [...path.split(' '), ...words];
      const { code, stdout, stderr } = await copse(argv, scene.at);
      const line = argv.map((word) => JSON.stringify(word.slice(0, 40))).join(' ');
      expect({
        line,
        code,
        isExpected: codes.includes(code ?? -1),
        stdout,
        stderr: stderr.slice(0, 300),
      }).toMatchObject({ line, isExpected: true, stdout: '' });
      expect({ line, stderr: stderr.slice(0, 1_000) }).toMatchObject({
        stderr: expect.stringMatching(/^copse: \S[^]*\n(?: {2}→ [a-z]| {4}[A-Z])/) as string,
      });
      expect({ line, length: stderr.length < 2_000 }).toEqual({ line, length: true });
      said.push(stderr);
      expect(stderr).not.toMatch(/Unexpected error|\n {4}at |[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }
    expect(await state()).toEqual(before);
    await expectPasteable(said);
  });
});
