/** The registry of operations: what holds for every one of them, and for the command line that derives from it. */

import { describe, expect, test } from 'vitest';

import { otherCommands } from '../../packages/copse/src/cli/program/other-commands.ts';
import { operations } from '../../packages/copse/src/operations/registry.ts';
import { jsonSchemaOf } from '../../packages/copse/src/operations/shapes/json-schema.ts';
import { runnableCommands } from '../support/command-tree.ts';

const commands = runnableCommands();

function repeated(values: readonly string[]): readonly string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

describe('every command', () => {
  test('is an operation, or is listed with the reason why not', () => {
    const known = new Set([...operations.map(({ command }) => command), ...Object.keys(otherCommands)]);
    expect([...commands.keys()].filter((path) => !known.has(path))).toEqual([]);
    for (const [path, { why }] of Object.entries(otherCommands))
      expect({ path, why }).toEqual({ path, why: expect.stringMatching(/^[A-Z].+\.$/) });
  });

  test('that is listed exists', () => {
    expect(Object.keys(otherCommands).filter((path) => !commands.has(path))).toEqual([]);
  });
});

describe('every operation', () => {
  test.each(operations)('$name has a command that prints JSON', ({ command }) => {
    const options = commands.get(command)?.options.map(({ long }) => long);
    expect({ command, options }).toEqual({ command, options: expect.arrayContaining(['--json']) });
  });

  test('gives its command its description', () => {
    // A command that does more than its operation describes all of it.
    const alone = operations.filter(({ command }) => !Object.hasOwn(otherCommands, command));
    for (const path of new Set(alone.map(({ command }) => command))) {
      const own = alone.filter(({ command }) => command === path).map(({ description }) => description);
      expect({ path, own }).toEqual({
        path,
        own: expect.arrayContaining([commands.get(path)?.description()]),
      });
    }
  });

  test('has a name, a title and a description in the same form', () => {
    for (const { name, title, description } of operations) {
      expect(name).toMatch(/^[a-z]+\.[a-z]+(_[a-z]+)*$/);
      expect(title).toMatch(/^[A-Z][^.]+$/);
      expect(description).toMatch(/^[A-Z].+\.$/);
    }
    expect(repeated(operations.map(({ name }) => name))).toEqual([]);
  });

  test('that destroys says how to undo it, and no other does', () => {
    for (const { name, effect, undo } of operations)
      expect({ name, hasUndo: undo !== undefined }).toEqual({ name, hasUndo: effect === 'destroys' });
  });

  test('may be called by a person, and an agent destroys nothing', () => {
    for (const { name, callers, effect } of operations) {
      expect({ name, callers }).toEqual({ name, callers: expect.arrayContaining(['person']) });
      if (effect === 'destroys') expect({ name, callers }).toEqual({ name, callers: ['person'] });
    }
  });

  test('that only reads is a GET and can be repeated; one that creates cannot, but for a work item', () => {
    for (const { name, effect, http, isRepeatable, creates } of operations) {
      const isReading = effect === 'reads';
      expect({ name, isGet: http.method === 'GET' }).toEqual({ name, isGet: isReading });
      if (isReading) expect({ name, isRepeatable }).toEqual({ name, isRepeatable: true });
      if (creates)
        // A work item becomes one task, once.
        expect({ name, effect, isRepeatable }).toEqual({
          name,
          effect: 'changes',
          isRepeatable: name === 'task.add_item',
        });
    }
  });

  test('has a method and a path of its own', () => {
    // Two paths that differ only in the names of their fields are one.
    const routes = operations.map(({ http }) => `${http.method} ${http.path.replaceAll(/\{\w+\}/g, '{}')}`);
    expect(repeated(routes)).toEqual([]);
    for (const { http } of operations) expect(http.path).toMatch(/^(\/([a-z]+(-[a-z]+)*|\{[a-z]+\}))+$/);
  });

  test.each(operations)('$name has its code and its shapes', async ({ http, load, shape }) => {
    const { act, view } = await load();
    expect([typeof act, typeof view]).toEqual(['function', 'function']);
    const { input, output } = await shape();
    const wanted = jsonSchemaOf(input) as unknown as Schema;
    expect(wanted).toMatchObject({ type: 'object', additionalProperties: false });
    expect(jsonSchemaOf(output)).toMatchObject({ type: 'object', additionalProperties: false });
    const fields = [...http.path.matchAll(/\{(\w+)\}/g)].map(([, field]) => field);
    expect(Object.keys(wanted.properties)).toEqual(expect.arrayContaining(fields));
  });
});

interface Schema {
  readonly properties: Readonly<Record<string, unknown>>;
}
