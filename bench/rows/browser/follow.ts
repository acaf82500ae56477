/** How soon an open board shows what fifteen agents write, each in a process of its own. */

import path from 'node:path';

import { openContext } from '../../../packages/copse/src/compose/open.ts';
import { notedIn } from '../../browser/in-page.ts';
import { newBrowser, storiedRepository, untilAtEvent, visit } from '../../browser/pages.ts';
import { WorkerProcess } from '../../processes.ts';
import { type Row, inMs, median, quantile } from '../../row.ts';
import { serve } from '../../serving.ts';
import type { EditFor, Edited } from '../../workers/editor.ts';

const TASKS = 1_000;
const AGENTS = 15;
const EVERY_MS = 500;
const GOAL_MS = 150;
/** All fifteen cards fit. */
const TALL = { viewport: { width: 1440, height: 2_400 } } as const;

export const browserFollow: Row = {
  name: 'browser-follow',
  timeoutMs: 300_000,
  async measure(bench) {
    const working = Array.from({ length: AGENTS }, (_, agent) => `w${agent.toString(36).padStart(3, '0')}`);
    const repository = await storiedRepository(bench, TASKS, { working });
    const { board } = await openContext({ cwd: repository, env: process.env });
    const address = { engine: 'sqlite', file: path.join(repository, '.copse', 'board.db') } as const;
    const serving = await serve(bench, repository);
    const agents = working.map((id, agent) => {
      const told = [JSON.stringify(address), `cp-${id}`, `Agent-${agent}`];
      return new WorkerProcess<EditFor, Edited>(bench, 'editor.ts', ...told);
    });
    for (const agent of agents) await agent.answer();
    const browser = await newBrowser(bench);
    const page = await visit(browser, serving, '/board', { ...TALL, words: /Agent-\d+ at step \d+/ });
    await untilAtEvent(page, await board.lastEvent());

    for (const agent of agents) agent.ask({ ms: bench.isQuick ? 8_000 : 30_000, everyMs: EVERY_MS });
    const written = await Promise.all(agents.map((agent) => agent.answer()));
    await untilAtEvent(page, await board.lastEvent());
    const { seenAt } = await notedIn(page);
    await Promise.all([...agents.map((agent) => agent.end()), board.close(), page.context().close()]);
    await serving.stop();

    const seen = Object.entries(seenAt);
    const latenciesMs = written.flatMap(({ writtenAt }, agent) => {
      const mine = seen
        .filter(([words]) => words.startsWith(`Agent-${agent} `))
        .map(([words, at]) => ({ step: Number(words.split(' ').at(-1)), at }));
      // A later step of the same task says as much.
      const shownAt = (step: number) =>
        Math.min(...mine.filter((one) => one.step >= step).map(({ at }) => at));
      return mine.length === 0 ? [] : writtenAt.map((at, step) => shownAt(step) - at);
    });
    const agentsSeen = new Set(seen.map(([words]) => words.split(' ')[0])).size;
    const p95 = quantile(latenciesMs, 0.95);
    return [
      {
        what: `event on the board to the screen, p95, ${AGENTS} agents writing`,
        measured: `${inMs(median(latenciesMs))}, p95 ${inMs(p95)}`,
        against: `${latenciesMs.length} events`,
        figure: p95,
        goal: { atMost: GOAL_MS, unit: 'ms' },
        limit: null,
        broken:
          agentsSeen < AGENTS ? `Only ${agentsSeen} of ${AGENTS} agents were on the screen.` : undefined,
      },
    ];
  },
};
