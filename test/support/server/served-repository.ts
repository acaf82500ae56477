/** A server in this process for a real repository, as `copse serve` opens it. */

import { openServedBoard } from '../../../packages/copse/src/compose/board/serve.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { openServer } from '../../../packages/copse/src/server/server.ts';
import { plainEnv } from '../plain-env.ts';
import type { Served } from './served.ts';

export async function serveRepository(
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const problems: string[] = [];
  const onProblem = (text: string) => void problems.push(text);
  const patience = { signal: new AbortController().signal, onAway: onProblem, onBack: () => {} } as never;
  const { context, receive, withAccess } = await openServedBoard(
    { cwd, env: { ...plainEnv, ...env } },
    { patience, onProblem },
  );
  const server = await openServer({
    board: context.board,
    policy: defaultPolicy,
    receive,
    withAccess,
    host: '127.0.0.1',
    port: 0,
    tls: null,
    names: ['127.0.0.1'],
    proxied: [],
    onProblem,
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
