/** The OpenAPI 3.1 document of the server, made from the registry and its shapes. Only a request for it loads all shapes. */

import { createHash } from 'node:crypto';

import type { Operation } from '../../operations/operation.ts';
import { operations } from '../../operations/registry.ts';
import { jsonSchemaOf, namedSchemaOf } from '../../operations/shapes/json-schema.ts';
import { keptPromise } from '../kept-promise.ts';
import { API } from '../rules/target.ts';
import { type Json, ownPaths, problemSchema, webSockets } from './own-paths.ts';
import { describedTag } from './tags.ts';

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

export const servedOpenApi = keptPromise(async () => {
  const body = `${JSON.stringify(await openApiDocument(operations))}\n`;
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { body, etag: `"${hash}"` };
});

export async function openApiDocument(described: readonly Operation[]): Promise<Json> {
  const schemas = new Map<string, unknown>([['Problem', problemSchema]]);
  const paths = new Map<string, Record<string, unknown>>(
    Object.entries(ownPaths).map(([path, item]) => [path, { ...item }]),
  );
  for (const operation of described) {
    const path = `${API}${operation.http.path}`;
    const item = paths.get(path) ?? {};
    item[operation.http.method.toLowerCase()] = await describedOperation(operation, schemas);
    paths.set(path, item);
  }
  const tags = [...new Set(['server', ...described.map(tagOf)])];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Copse',
      version: '1',
      summary: 'Tasks, agents and landings of one repository.',
      description:
        'Every operation that the command line has. Errors have the sentence and the next commands of the command line. See docs/guides/server.md.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:4747', description: 'copse serve' }],
    security: [{ token: [] }],
    tags: tags.map(describedTag),
    paths: Object.fromEntries([...paths].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    'x-websockets': webSockets,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The token of copse serve. It is a person’s.' },
      },
      responses: {
        Problem: {
          description: 'It was refused, or failed.',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
      schemas: Object.fromEntries([...schemas].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    },
  };
}

function tagOf({ name }: Operation): string {
  return name.split('.')[0] ?? name;
}

async function describedOperation(operation: Operation, schemas: Map<string, unknown>): Promise<Json> {
  const { name, title, description, effect, undo, http, creates, command, callers } = operation;
  const shape = await operation.shape();
  const input = hoisted(jsonSchemaOf(shape.input), schemas) as ObjectSchema;
  const output = hoisted(namedSchemaOf(shape.output), schemas);
  const isInQuery = http.method === 'GET' || http.method === 'DELETE';
  const inPath = new Set(Array.from(http.path.matchAll(/\{(\w+)\}/g), ([, field = '']) => field));
  const others = Object.keys(input.properties ?? {}).filter((field) => !inPath.has(field));
  const isGet = http.method === 'GET';
  const parameters = [
    ...[...inPath].map((field) => fieldParameter(field, input, 'path')),
    ...(isInQuery ? others.map((field) => fieldParameter(field, input, 'query')) : []),
    ...(isGet ? [headerParameter('If-None-Match', 'The ETag of an answer that the client has.')] : []),
    ...(creates
      ? [headerParameter('Idempotency-Key', 'Requests with the same key add one thing, within a day.')]
      : []),
    ...(effect === 'destroys' ? [confirmation(name)] : []),
  ];
  const headers = {
    ...(isGet && { ETag: { description: 'For If-None-Match.', schema: { type: 'string' } } }),
    ...(undo !== undefined && { 'Copse-Undo': { description: undo, schema: { type: 'string' } } }),
  };
  const done = {
    description: title,
    ...(Object.keys(headers).length > 0 && { headers }),
    content: { 'application/json': { schema: output } },
  };
  return {
    operationId: name,
    summary: title,
    description: undo === undefined ? description : `${description} ${undo}`,
    tags: [tagOf(operation)],
    'x-copse-command': `copse ${command}`,
    'x-copse-effect': effect,
    'x-copse-callers': callers,
    ...(parameters.length > 0 && { parameters }),
    ...(!isInQuery && others.length > 0 && { requestBody: bodyOf(input, inPath) }),
    responses: {
      [creates ? '201' : '200']: done,
      ...(isGet && { '304': { description: 'The answer that the client has is still true.' } }),
      '4XX': { $ref: '#/components/responses/Problem' },
      '5XX': { $ref: '#/components/responses/Problem' },
    },
  };
}

function fieldParameter(
  name: string,
  { properties = {}, required = [] }: ObjectSchema,
  place: 'path' | 'query',
): Json {
  const { description, ...schema } = properties[name] ?? {};
  const isRequired = place === 'path' || required.includes(name);
  return {
    name,
    in: place,
    ...(description !== undefined && { description }),
    ...(isRequired && { required: true }),
    // Parts between commas, as in the command line.
    ...(schema['type'] === 'array' && { style: 'form', explode: false }),
    schema,
  };
}

function headerParameter(name: string, description: string): Json {
  return { name, in: 'header', description, schema: { type: 'string' } };
}

function confirmation(name: string): Json {
  return {
    name: 'Confirm',
    in: 'header',
    description: 'The name of the operation: what it destroys, the server does not bring back.',
    required: true,
    schema: { const: name },
  };
}

function bodyOf(
  { properties = {}, required = [], ...rest }: ObjectSchema,
  without: ReadonlySet<string>,
): Json {
  const fields = Object.entries(properties).filter(([field]) => !without.has(field));
  const needed = required.filter((field) => !without.has(field));
  const schema = {
    ...rest,
    properties: Object.fromEntries(fields),
    ...(needed.length > 0 && { required: needed }),
  };
  return { required: needed.length > 0, content: { 'application/json': { schema } } };
}

/** Named shapes go to the components of the document, once for all operations. */
function hoisted({ $defs, ...schema }: Json, schemas: Map<string, unknown>): Json {
  for (const [name, one] of Object.entries(($defs ?? {}) as Json)) schemas.set(name, pointed(one));
  const own = Object.entries(schema).filter(([key]) => key !== '$schema');
  return pointed(Object.fromEntries(own)) as Json;
}

function pointed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(withNamedKeys(value)).map(([key, one]) => [
      key,
      key === '$ref' && typeof one === 'string'
        ? one.replace('#/$defs/', '#/components/schemas/')
        : pointed(one),
    ]),
  );
}

/** A record that has all keys of an enumeration: generators of clients know properties, but not `propertyNames`. */
function withNamedKeys(schema: object): object {
  const { propertyNames, required, additionalProperties, ...rest } = schema as Json;
  if (propertyNames === undefined || !Array.isArray(required)) return schema;
  const properties = Object.fromEntries(required.map((key: string) => [key, additionalProperties]));
  return { ...rest, properties, required, additionalProperties: false };
}
