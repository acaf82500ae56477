/** A route for each operation of the registry. Its code and its shapes are loaded by the first request. */

import type { Operation } from '../../operations/operation.ts';
import type { Route } from '../routes.ts';
import { API } from '../rules/target.ts';

export function operationRoutes(operations: readonly Operation[]): readonly Route[] {
  return operations
    .filter(({ callers }) => callers.includes('person'))
    .map((operation) => ({
      method: operation.http.method,
      path: `${API}${operation.http.path}`,
      isForSessions: operation.callers.includes('session'),
      answer: async (serving, call) => {
        const { answerCall } = await import('./answer-call.ts');
        return answerCall(operation, serving, call);
      },
    }));
}
