/** Every operation of the registry, on every surface that the server has; and the document that describes them. */

import { readFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { operations } from '../../../packages/copse/src/operations/registry.ts';
import { jsonSchemaOf } from '../../../packages/copse/src/operations/shapes/json-schema.ts';
import { operationRoutes } from '../../../packages/copse/src/server/api/routes.ts';
import { ownPaths, webSockets } from '../../../packages/copse/src/server/api/own-paths.ts';
import { openApiDocument } from '../../../packages/copse/src/server/api/openapi.ts';
import { ownRoutes } from '../../../packages/copse/src/server/routes.ts';
import { generateOpenApi, openApiFile } from '../../../scripts/references/generate-openapi.ts';
import { projectRoot } from '../../guards/working-copy.ts';
import { runnableCommands } from '../../support/command-tree.ts';
import { newServed, ask } from '../../support/server/served.ts';

interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly $ref?: string;
}

let document: OpenApi;
beforeAll(async () => {
  document = (await openApiDocument(operations)) as unknown as OpenApi;
});

const routes = operationRoutes(operations);
const commands = runnableCommands();

describe('an operation has a route, a description in the OpenAPI document and a command with --json', () => {
  test.each(operations)('$name', async ({ name, http, command, shape, creates, effect }) => {
    const whole = `/api/v1${http.path}`;
    expect(routes.filter((one) => one.method === http.method && one.path === whole)).toHaveLength(1);
    expect(commands.get(command)?.options.map(({ long }) => long)).toContain('--json');
    const described = document.paths[whole]?.[http.method.toLowerCase()] ?? expect.fail(`${name} is missing`);
    expect(described.operationId).toBe(name);
    // Every field of the input is in exactly one place.
    const { properties = {} } = jsonSchemaOf((await shape()).input) as Schema;
    const parameters = described.parameters ?? [];
    const inAddress = parameters.filter((one) => one.in !== 'header').map((one) => one.name);
    const body = described.requestBody?.content['application/json']?.schema.properties ?? {};
    expect([...inAddress, ...Object.keys(body)].toSorted()).toEqual(Object.keys(properties).toSorted());
    const headers = new Set(parameters.filter((one) => one.in === 'header').map((one) => one.name));
    expect(headers.has('Idempotency-Key')).toBe(creates === true);
    expect(headers.has('Confirm')).toBe(effect === 'destroys');
    expect(Object.keys(described.responses)).toContain(creates ? '201' : '200');
  });
});

test('texts that are sent as headers are ASCII', () => {
  const texts = operations.map(({ name, undo = '' }) => `${name} ${undo}`);
  expect(texts.filter((text) => !/^[\x20-\x7e]*$/.test(text))).toEqual([]);
});

test('the document has no path that the server does not have', () => {
  const known = new Set([...routes.map((one) => one.path), ...Object.keys(ownPaths)]);
  expect(Object.keys(document.paths).filter((one) => !known.has(one))).toEqual([]);
  expect(ownRoutes.map((one) => one.path).filter((one) => !Object.hasOwn(document.paths, one))).toEqual([]);
});

test('the document names every field that the WebSocket of an output takes', () => {
  const guide = readFileSync(path.join(projectRoot, 'docs/guides/server.md'), 'utf8');
  const [, table = ''] = /^\| query +\| meaning +\|\n((?:\|.*\n)+)/m.exec(guide) ?? [];
  const told = Array.from(table.matchAll(/^\| `(\w+)`/gm), ([, name]) => name);
  const output = webSockets['/api/v1/tasks/{task}/output'] as Pick<Described, 'parameters'>;
  expect(told.length).toBeGreaterThan(3);
  expect(output.parameters?.map(({ name }) => name)).toEqual(['ticket', ...told]);
});

test('a path of the server itself is no path of an operation', () => {
  const all = [...ownRoutes, ...routes].map(
    (one) => `${one.method} ${one.path.replaceAll(/\{\w+\}/g, '{}')}`,
  );
  expect(all.filter((one, index) => all.indexOf(one) !== index)).toEqual([]);
});

test('every reference of the document leads somewhere', () => {
  const text = JSON.stringify(document);
  const references = new Set(Array.from(text.matchAll(/"\$ref":"#\/([^"]+)"/g), ([, one = '']) => one));
  expect(references.size).toBeGreaterThan(3);
  for (const reference of references) {
    const found = reference
      .split('/')
      .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);
    expect({ reference, isThere: found !== undefined }).toEqual({ reference, isThere: true });
  }
});

test('fields in an address have a type that text can be read as', async () => {
  for (const { name, http, shape } of operations) {
    const { properties = {} } = jsonSchemaOf((await shape()).input) as Schema;
    const inPath = Array.from(http.path.matchAll(/\{(\w+)\}/g), ([, field = '']) => field);
    const fields = http.method === 'GET' || http.method === 'DELETE' ? Object.keys(properties) : inPath;
    for (const field of fields) {
      const isPlain = !/"type":"object"|"items":\{"type":"array"/.test(JSON.stringify(properties[field]));
      expect({ name, field, isPlain }).toEqual({ name, field, isPlain: true });
    }
  }
});

test('docs/reference/openapi.json is current: npm exec -c "node scripts/references/generate-openapi.ts"', async () => {
  const stored = readFileSync(path.join(projectRoot, openApiFile), 'utf8');
  expect(stored === (await generateOpenApi())).toBe(true);
});

test('the server gives the same document, and 304 to a client that has it', async () => {
  await using served = await newServed();
  const { status, body, headers } = await ask(served, '/api/v1/openapi.json');
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual(document);
  const again = { headers: { 'if-none-match': headers['etag'] ?? '' } };
  expect(await ask(served, '/api/v1/openapi.json', again)).toMatchObject({ status: 304, body: '' });
});
