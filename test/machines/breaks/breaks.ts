/**
 * One break of the product for each rule of the checker, with seeds of random runs that report exactly this rule.
 * `run.ts` carries them out; `test/machines/rules/breaks.test.ts` makes sure that each text is still there to be broken.
 */

export interface Break {
  readonly rule: string;
  /** What the broken product does. */
  readonly what: string;
  /** In packages/copse/src. */
  readonly edits: readonly { readonly file: string; readonly find: string; readonly put: string }[];
  /** Tried in this order until one reports the rule. */
  readonly seeds: readonly number[];
}

export const breaks: readonly Break[] = [
  {
    rule: 'numbers',
    what: 'each transaction leaves one number out',
    edits: [
      {
        file: 'board/sql/writes.ts',
        find: "then last_event + ${value('count')} end",
        put: "then last_event + 1 + ${value('count')} end",
      },
    ],
    seeds: [210],
  },
  {
    rule: 'claims',
    what: 'a second claim gets the token of the first',
    edits: [
      {
        file: 'tasks/rules/claim.ts',
        find: '(task.token + 1) as FencingToken',
        put: 'Math.max(1, task.token) as FencingToken',
      },
    ],
    seeds: [210],
  },
  {
    rule: 'tokens',
    what: 'tokens count down',
    edits: [
      {
        file: 'tasks/rules/claim.ts',
        find: '(task.token + 1) as FencingToken',
        put: '(task.token === 0 ? 1_000 : task.token - 1) as FencingToken',
      },
    ],
    seeds: [210],
  },
  {
    rule: 'fenced',
    what: 'a runner whose task was taken over works on, and the board takes its records',
    edits: [
      {
        file: 'agents/run/keep-lease.ts',
        find: 'if (!holds && !stopped.signal.aborted) lost.abort();',
        put: 'void holds;',
      },
      {
        file: 'tasks/rules/claim.ts',
        find: "if (task.state.status === 'in_progress' && task.state.claim.token === token) return undefined;",
        put: "if (task.state.status === 'in_progress') return undefined;",
      },
      {
        file: 'board/sql/writer.ts',
        find: 'if (claim?.session === session && claim.token === token) return;',
        put: 'return void [claim, session, token];',
      },
      {
        file: 'agents/run/end.ts',
        find: 'await change.apply(decideSession(session, request, change.at));',
        put: "if (session.state.life === 'live') await change.apply(decideSession(session, request, change.at));",
      },
    ],
    seeds: [313, 346],
  },
  {
    rule: 'landed-once',
    what: 'a landing merges the head with its own rebase',
    edits: [
      {
        file: 'queue/merge/build.ts',
        find: 'if (isSame) return { ...replayed, note:',
        put: `const twice = (tree: string, first: CommitId) =>
    merger.write({
      tree, parents: [first, request.head], author: copseAt(request.at), encoding: undefined, message: asBytes('twice'), at: request.at,
    });
  if (isSame) return { ...replayed, commit: twice(replayed.tree, replayed.commit), commits: replayed.commits + 1, note:`,
      },
    ],
    seeds: [210],
  },
  {
    rule: 'landed-there',
    what: 'landings are recorded without a push',
    edits: [
      {
        file: 'queue/lead/land.ts',
        find: "if (!push || remote === commit) return { kind: 'pushed', notes: [] };",
        put: "if (push || remote === commit) return { kind: 'pushed', notes: [] };",
      },
    ],
    seeds: [210],
  },
  {
    rule: 'acknowledged',
    what: 'commits are reported as done before they are on disk, which follows a moment later',
    edits: [
      {
        file: 'board/postgres/sending.ts',
        find: "    const committed = submit('commit');\n    hold(committed);\n    await submitAndRelease(BRING_TO_DISK);\n    return committed;",
        put: "    setTimeout(() => void submit(BRING_TO_DISK).catch(() => {}), 300).unref();\n    return submitAndRelease('commit');",
      },
    ],
    seeds: [384, 40],
  },
  {
    rule: 'reachable',
    what: 'a machine does not go on from a snapshot, and deletes it when the task landed',
    edits: [
      {
        file: 'workspaces/act/shared/take-over.ts',
        find: "if (!(await sharesWork(context))) return { kind: 'none', notes: [] };",
        put: "if (await sharesWork(context)) return { kind: 'none', notes: [] };",
      },
      {
        file: 'workspaces/discard/drop-shared.ts',
        find: "landed?.token === undefined || landed.token === null || landed.token === token ? 'landed' : 'ended'",
        put: "landed === undefined ? 'ended' : 'landed'",
      },
    ],
    seeds: [392, 295, 281],
  },
  {
    rule: 'fast-forward',
    what: 'landings are pushed with force, a moment after the remote was read',
    edits: [
      {
        file: 'queue/target/push.ts',
        find: "const lease = from === undefined ? [] : [`--force-with-lease=refs/heads/${branch}:${from ?? ''}`];",
        put: "const lease = from === undefined ? [] : ['--force'];\n  if (from) await new Promise((resolve) => setTimeout(resolve, 600));",
      },
    ],
    seeds: [60, 338],
  },
  {
    rule: 'followed',
    what: 'a follower that is woken reads only the newest event',
    edits: [
      {
        file: 'board/follow.ts',
        find: 'await untilWoken(woken, signal, policy.followPollMs);',
        put: 'await untilWoken(woken, signal, policy.followPollMs);\n      after = brand<EventNumber>(Math.max(after, (await board.lastEvent()) - 1));',
      },
    ],
    seeds: [210],
  },
];
