/** What the OpenAPI document says about the paths that are no operations. */

import { problemStatuses } from '../rules/problem.ts';

export type Json = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const texts = { type: 'array', items: text };

export const problemSchema: Json = {
  type: 'object',
  description: 'An error (RFC 9457), in the words of the command line.',
  properties: {
    type: text,
    title: text,
    status: { type: 'integer' },
    detail: { ...text, description: 'One sentence: what was refused, and why.' },
    code: { type: 'string', enum: Object.keys(problemStatuses) },
    next: { ...texts, description: 'Commands that work instead, the most likely first.' },
    task: { ...text, description: 'The task whose status refused it.' },
    undo: { ...text, description: 'Of an operation that destroys: how to bring it back, or what stays.' },
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'next'],
  additionalProperties: false,
};

const problems = {
  '4XX': { $ref: '#/components/responses/Problem' },
  '5XX': { $ref: '#/components/responses/Problem' },
};

function own(operationId: string, summary: string, rest: Json, status: string, answer: Json): Json {
  const { open, ...others } = rest;
  return {
    operationId,
    summary,
    tags: ['server'],
    ...(open === true && { security: [] }),
    ...others,
    responses: { [status]: { description: summary, ...answer }, ...problems },
  };
}

function object(properties: Json): Json {
  const required = Object.keys(properties);
  const schema = { type: 'object', properties, required, additionalProperties: false };
  return { 'application/json': { schema } };
}

const plain = { 'text/plain': { schema: text } };
const cursor = {
  name: 'after',
  in: 'query',
  description: 'An event number, or the cursor of an event.',
  schema: text,
};
const expiresInMs = { type: 'integer' };

export const ownPaths: Readonly<Record<string, Json>> = {
  '/api/v1/snapshot': {
    get: own('server.snapshot', 'Read all tasks, true at one event number', {}, '200', {
      headers: { ETag: { description: 'For If-None-Match.', schema: text } },
      content: object({
        at: { type: 'integer' },
        cursor: text,
        tasks: { type: 'array', items: { $ref: '#/components/schemas/Task' } },
      }),
    }),
  },
  '/api/v1/snapshot/records': {
    get: own(
      'server.snapshot_records',
      'Read the records that events change, true at one event number',
      {},
      '200',
      {
        headers: { ETag: { description: 'For If-None-Match.', schema: text } },
        content: object({ at: { type: 'integer' }, cursor: text, records: { type: 'object' } }),
      },
    ),
  },
  '/api/v1/events': {
    get: own('server.events', 'Follow events as Server-Sent Events', { parameters: [cursor] }, '200', {
      content: { 'text/event-stream': { schema: text } },
    }),
  },
  '/api/v1/export': {
    get: own('server.export', 'Read the whole board, as copse export prints it', {}, '200', {
      content: { 'application/jsonl': { schema: text } },
    }),
  },
  '/mcp': {
    post: own(
      'server.mcp',
      'Call every operation as a tool of the Model Context Protocol, one message for each request',
      { requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } } },
      '200',
      { content: { 'application/json': { schema: { type: 'object' } } } },
    ),
  },
  '/api/v1/ticket': {
    post: own('server.ticket', 'Get a ticket for one WebSocket (x-websockets)', {}, '201', {
      content: object({ ticket: text, expiresInMs }),
    }),
  },
  '/api/v1/code': {
    post: own('server.code', 'Get an address with a code that works once', {}, '201', {
      content: object({ url: text, expiresInMs }),
    }),
  },
  '/api/v1/enter': {
    post: own(
      'server.enter',
      'Change a code into a token',
      { open: true, requestBody: { required: true, content: object({ code: text }) } },
      '200',
      { content: object({ token: text }) },
    ),
  },
  '/api/v1/openapi.json': {
    get: own('server.openapi', 'Read this document', {}, '200', {
      content: { 'application/json': { schema: { type: 'object' } } },
    }),
  },
  '/metrics': {
    get: own('server.metrics', 'Read figures in the text format of Prometheus', {}, '200', {
      content: plain,
    }),
  },
  '/healthz': {
    get: own('server.health', 'See whether the server answers', { open: true }, '200', { content: plain }),
  },
  '/triggers/{name}': {
    post: own(
      'server.trigger',
      'Start a trigger; needs its signature instead of the token',
      {
        open: true,
        parameters: [{ name: 'name', in: 'path', required: true, schema: text }],
        requestBody: { content: { '*/*': { schema: {} } } },
      },
      '202',
      { content: { 'application/json': { schema: { type: 'object' } } } },
    ),
  },
};

const ticket = {
  name: 'ticket',
  in: 'query',
  required: true,
  description: 'Of POST /api/v1/ticket; it stands for the token, once, within 30 seconds.',
  schema: text,
};

/** `x-websockets` of the document: OpenAPI cannot describe a WebSocket, and tools refuse an operation that answers only 101. */
export const webSockets: Readonly<Record<string, Json>> = {
  '/api/v1/stream': { summary: 'Follow events', parameters: [ticket, cursor] },
  '/api/v1/tasks/{task}/output': {
    summary: 'Follow the output of the agent of a task, as its log or its terminal',
    parameters: [
      ticket,
      {
        name: 'view',
        in: 'query',
        description: 'What it follows; without it, the log.',
        schema: { type: 'string', enum: ['log', 'terminal'] },
      },
      {
        name: 'attempt',
        in: 'query',
        description: 'Of a log: an attempt; without it, the latest.',
        schema: text,
      },
      {
        name: 'from',
        in: 'query',
        description: 'The offset of the next byte; without it, a log begins shortly before its end.',
        schema: { type: 'integer', minimum: 0 },
      },
      { name: 'stream', in: 'query', description: 'The stream to which `from` belongs.', schema: text },
    ],
  },
};
