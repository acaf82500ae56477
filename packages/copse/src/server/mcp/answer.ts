/**
 * `/mcp`: the protocol over HTTP, one request and one answer at a time. No session is kept between requests and no stream is
 * opened: the token of each request says who asks, as on every other path.
 */

import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';

import { sizeText } from '../../explain/rules/amounts.ts';
import { operations } from '../../operations/registry.ts';
import { perform } from '../../operations/perform.ts';
import { type HttpAnswer, problemAnswer } from '../answer.ts';
import { readBody } from '../body.ts';
import { keptPromise } from '../kept-promise.ts';
import type { Call, ServedParts } from '../routes.ts';
import { problem } from '../rules/problem.ts';
import { personServer } from './person-server.ts';
import { toolsOf } from './tools.ts';

/** The registry does not change while a server runs. */
const toolsOnce = keptPromise(() => toolsOf(operations));

export async function answerMcp(
  { limits, url, version, withAccess }: ServedParts,
  { request }: Call,
): Promise<HttpAnswer> {
  const body = await readBody(request, limits.bodyBytes);
  if (body.kind === 'too_large') {
    const text = `The body of a request may have ${sizeText(limits.bodyBytes)}.`;
    return problemAnswer(problem('too_large', text), { connection: 'close' });
  }
  const message = body.kind === 'read' ? messageIn(body.bytes) : undefined;
  if (message === undefined) return rpcError(-32700, 'The body of the request is no JSON object.');
  const server = personServer({
    version,
    tools: await toolsOnce(),
    perform: (operation, input) => withAccess((access) => perform(operation, access, input)),
  });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    await server.connect(transport);
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : [],
    );
    const asked = new Request(`${url}/mcp`, { method: 'POST', headers });
    const answer = await transport.handleRequest(asked, { parsedBody: message });
    return { status: answer.status, type: 'application/json', body: await answer.text() };
  } finally {
    await server.close();
  }
}

/** A list of messages could ask for thousands of calls at once, and newer versions of the protocol have none. */
function messageIn(bytes: Buffer): object | undefined {
  try {
    const read: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

function rpcError(code: number, message: string): HttpAnswer {
  const body = `${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`;
  return { status: 400, type: 'application/json', body };
}
