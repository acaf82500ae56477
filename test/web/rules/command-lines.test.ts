/** Every operation has a place in the page with its command line, or a reason why not; and the lines are those of the command line. */

import { describe, expect, test } from 'vitest';

import { operations } from '../../../packages/copse/src/operations/registry.ts';
import { jsonSchemaOf } from '../../../packages/copse/src/operations/shapes/json-schema.ts';
import {
  commandLine,
  commandLines,
  fieldsOf,
  lineOf,
  usageOf,
} from '../../../packages/web/src/shell/palette/command-lines.ts';
import { type DescribedForm, formOf, inputOf } from '../../../packages/web/src/shell/palette/forms.ts';
import { runnableCommands } from '../../support/command-tree.ts';

const commands = runnableCommands();

/** Fields that the palette does not ask for, each with the reason. */
const leftOut: Readonly<Record<string, string>> = {
  'board.status readyLimit': 'The answer has all counts.',
  'task.list cursor': 'The answer is short enough to be read; the board page shows all tasks.',
  'artifact.content after': 'The task page and the command line read on.',
  'task.diff maxFiles': 'The page cuts what it shows.',
  'task.diff maxPatchBytes': 'The page cuts what it shows.',
  'event.list limit': 'The field "last" says how many.',
  'task.merge waitSeconds': 'The command line has no such option: it waits until the end.',
  'review.show maxPatchBytes': 'The changes of the task page ask for it.',
  'review.show since': 'The changes of the task page ask for it.',
  'review.show lossy': 'The changes of the task page ask for it.',
  'review.show after': 'The changes of the task page ask for it.',
  'review.send_back lines': 'The changes of the task page collect comments on lines.',
  'review.send_back head': 'It belongs to the comments on lines.',
  'config.accept version': 'It is of the changes that the form shows.',
  'session.take_over isKept': 'A page that shows the terminal keeps it.',
};

async function describedForm({ shape, ...described }: (typeof operations)[number]): Promise<DescribedForm> {
  const { properties = {}, required = [] } = jsonSchemaOf((await shape()).input, 'input');
  return { ...described, properties, required } as unknown as DescribedForm;
}

test('an operation without a place in the page says why', () => {
  expect(Object.keys(commandLines).toSorted()).toStrictEqual(operations.map(({ name }) => name).toSorted());
  const nowhere = Object.entries(commandLines).flatMap(([name, line]) =>
    typeof line === 'string' ? [] : [[name, line.nowhere]],
  );
  expect(nowhere.map(([name]) => name)).toStrictEqual(['task.phase', 'task.heartbeat', 'task.notify']);
  for (const [, why] of nowhere) expect(why).toMatch(/^[A-Z].+\.$/);
});

describe('the line of an operation', () => {
  const offered = operations.filter(({ name }) => lineOf(name as never) !== undefined);

  test.each(offered)('$name is its command, with options that this has', ({ name, command }) => {
    const line = lineOf(name as never) ?? '';
    expect(`${line} `.startsWith(`${command} `)).toBe(true);
    const own = commands.get(command) ?? expect.fail(command);
    const words = line.slice(command.length).split(' ').filter(Boolean);
    const given = words.filter((word) => word.startsWith('--'));
    const named = given.filter((word) => !word.includes('<existing>'));
    const known = own.options.map(({ long }) => long);
    expect(known).toStrictEqual(expect.arrayContaining(named.map((word) => word.replace(/[=?].*/, ''))));
    const isVariadic = own.registeredArguments.some(({ variadic }) => variadic);
    const most = isVariadic ? Infinity : own.registeredArguments.length;
    // A file or an address is one argument of `artifact add`.
    const least = name === 'artifact.add' ? 1 : 0;
    expect(words.length - given.length - least).toBeLessThanOrEqual(most);
  });

  test.each(offered)('$name asks for every field, or it is said why not', async (operation) => {
    const { properties, required } = await describedForm(operation);
    const asked = fieldsOf(lineOf(operation.name as never) ?? '');
    const missing = Object.keys(properties).filter((field) => !asked.includes(field));
    const said = Object.keys(leftOut).flatMap((one) =>
      one.startsWith(`${operation.name} `) ? [one.split(' ')[1]] : [],
    );
    expect(missing.toSorted()).toStrictEqual(said.toSorted());
    expect(asked.filter((field) => !(field in properties))).toStrictEqual([]);
    expect(required.filter((field) => missing.includes(field))).toStrictEqual(
      operation.name === 'config.accept' ? ['version'] : [],
    );
  });

  test.each([
    ['task.pause', { task: 'cp-a' }, 'copse pause cp-a'],
    [
      'task.add',
      { title: "Don't", areas: ['src/**', 'b'] },
      `copse add 'Don'\\''t' --area 'src/**' --area b`,
    ],
    ['task.work', { task: 'cp-a', existing: 'reset' }, 'copse work cp-a --reset'],
    ['task.delete', { tasks: ['cp-a', 'cp-b'], unlink: true }, 'copse delete cp-a cp-b --unlink'],
    ['question.answer', { task: 'cp-a', isAllowed: false }, 'copse answer cp-a deny'],
    ['node.drain', { node: 'one', withinMs: 300_000 }, 'copse node drain one --within 300s'],
    ['task.move', { task: 'cp-a' }, 'copse move cp-a --to …'],
  ] as const)('%s %j is %s', async (name, input, line) => {
    const operation = operations.find((one) => one.name === name) ?? expect.fail(name);
    const { needed } = formOf(await describedForm(operation)) ?? expect.fail(name);
    expect(commandLine(lineOf(name) ?? '', input, needed)).toBe(line);
  });

  test('is shown without its options before anything is filled in', () => {
    expect(usageOf(lineOf('question.answer') ?? '')).toBe('copse answer <task> <isAllowed>');
    expect(usageOf(lineOf('board.status') ?? '')).toBe('copse status');
  });
});

test('what a form holds becomes an input that the operation takes', async () => {
  const filled = {
    task: 'cp-a',
    title: ' New ',
    accept: 'npm test\nnpm run x, y\n',
    addDependencies: 'cp-b, cp-c',
    priority: 'p4',
    body: '',
  };
  const edit = operations.find(({ name }) => name === 'task.edit') ?? expect.fail('task.edit');
  const input = inputOf(formOf(await describedForm(edit)) ?? expect.fail('form'), filled);
  expect((await edit.shape()).input.parse(input)).toStrictEqual({
    task: 'cp-a',
    title: 'New',
    accept: ['npm test', 'npm run x, y'],
    addDependencies: ['cp-b', 'cp-c'],
    priority: 'p4',
  });
});
