/** Agents with the token of their session, and terminals of agents. */

import type { RemovedCheck } from './removed-check.ts';

const withAgents = { tests: ['faults/session-tokens'], isWithAgents: true } as const;
const ROUTE =
  "if (found !== undefined && call.caller.kind === 'session' && !found.route.isForSessions)\n    return notForSessions(call.caller);";

export const agents: readonly RemovedCheck[] = [
  {
    check: 'paths of the server itself are closed to sessions',
    edits: [{ file: 'server/routes.ts', find: ROUTE, put: '' }],
    attacks: [
      // Told what is wrong with their input, which is read before the registry is asked.
      'the token of a session > is refused to every operation for people only, whatever the input is',
      'the token of a session > is refused to every path of the server itself, and gets no ticket',
    ],
    ...withAgents,
  },
  {
    check: 'operations for people are refused to sessions, at the route and by the registry',
    edits: [
      { file: 'server/routes.ts', find: ROUTE, put: '' },
      { file: 'operations/callers.ts', find: 'if (isPerson(env)) return;', put: 'if (env) return;' },
    ],
    attacks: [
      'the token of a session > is refused to every operation for people only, whatever the input is',
      'the token of a session > is refused to every path of the server itself, and gets no ticket',
      'the token of a session > is not told whether another task is there',
    ],
    ...withAgents,
  },
  {
    check: 'a session reads and syncs only its own task',
    edits: [
      {
        file: 'operations/callers.ts',
        find: '(!OWN_TASK_ONLY.has(command) || isAboutOwnTask(env, input))',
        put: '(OWN_TASK_ONLY.has(command) || isAboutOwnTask !== undefined)',
      },
    ],
    attacks: ['the token of a session > is not told whether another task is there'],
    ...withAgents,
  },
  {
    check: 'the code of a session token is verified',
    edits: [
      {
        file: 'agents/files/session-token.ts',
        find: 'return isOurs ? claimed : undefined;',
        put: 'void isOurs;\n  return claimed;',
      },
    ],
    attacks: [
      'the token of a session > counts only as it was given: another session, number or code is none',
    ],
    ...withAgents,
  },
  {
    check: 'a session token counts for the present claim only',
    edits: [
      {
        file: 'agents/act/session-caller.ts',
        find: 'if (claim.session !== id || claim.token !== token || claim.isByHand) return undefined;',
        put: '',
      },
    ],
    attacks: [
      'the token of a session > counts only as it was given: another session, number or code is none',
    ],
    ...withAgents,
  },
  {
    check: 'a person types to an agent only after taking over',
    edits: [
      {
        file: 'server/output/outputs.ts',
        find: 'return refuseTyping(task, session, parts)?.refusal ?? null;',
        put: 'void [session, parts];\n    return null;',
      },
    ],
    attacks: ['a page with a terminal > '],
    tests: ['journeys/output'],
    isWithAgents: true,
  },
];
