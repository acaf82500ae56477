import type { Route } from '../routes.ts';

/** The package of the protocol is loaded by the first request. */
export const mcpRoute: Route = {
  method: 'POST',
  path: '/mcp',
  answer: async (serving, call) => {
    const { answerMcp } = await import('./answer.ts');
    return answerMcp(serving, call);
  },
};
