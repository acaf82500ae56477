/** A server in this process for a real repository, as `copse serve` opens it. */

import { openServedBoard } from '../../../packages/copse/src/compose/board/serve.ts';
import { type Policy, defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { openServer } from '../../../packages/copse/src/server/server.ts';
import { closeAtEnd } from '../close-at-end.ts';
import { plainEnv } from '../plain-env.ts';
import { type Asked, type Got, type Served, ask } from './served.ts';

export async function serveRepository(
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  limits: { readonly [K in 'server' | 'terminals']?: Partial<Policy[K]> } = {},
  port = 0,
): Promise<Served> {
  const problems: string[] = [];
  const onProblem = (text: string) => void problems.push(text);
  const patience = { signal: new AbortController().signal, onAway: onProblem, onBack: () => {} } as never;
  const { context, receive, withAccess, sessionOf, webFolder, output } = await openServedBoard(
    { cwd, env: { ...plainEnv, ...env } },
    { patience, onProblem },
  );
  const server = await openServer({
    version: '0.0.0',
    board: context.board,
    policy: {
      ...defaultPolicy,
      server: { ...defaultPolicy.server, ...limits.server },
      terminals: { ...defaultPolicy.terminals, ...limits.terminals },
    },
    receive,
    withAccess,
    webFolder,
    sessionOf,
    output,
    host: '127.0.0.1',
    port,
    tls: null,
    names: ['127.0.0.1'],
    proxied: [],
    onProblem,
  }).catch((error: unknown) => {
    // As `copse serve`, which then tries another port.
    closeAtEnd(() => context.board.close());
    throw error;
  });
  return {
    server,
    port: server.port,
    board: context.board,
    problems,
    async [Symbol.asyncDispose]() {
      await server.close();
      await context.board.close();
    },
  };
}

export interface CallOptions extends Pick<Asked, 'headers' | 'token'> {
  readonly body?: object | undefined;
}

/** A request below the root of the API, with a JSON body. */
export function call(served: Served, request: string, { body, ...asked }: CallOptions = {}): Promise<Got> {
  const [method = 'GET', path = ''] = request.split(' ');
  const sent = body && { body: JSON.stringify(body) };
  const type = body && { 'content-type': 'application/json' };
  return ask(served, `/api/v1${path}`, { ...asked, method, ...sent, headers: { ...type, ...asked.headers } });
}

export async function called<T>(served: Served, request: string, options: CallOptions = {}): Promise<T> {
  const { status, body } = await call(served, request, options);
  if (status < 300) return JSON.parse(body) as T;
  throw new Error(`${request}: ${status} ${body}`);
}
