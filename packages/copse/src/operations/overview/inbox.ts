import type { BoardReader } from '../../board/port.ts';
import { loadOverview } from '../../explain/overview.ts';
import type { NeedsYou, Overview } from '../../explain/rules/overview.ts';
import type { Access } from '../access.ts';
import { overviewView } from '../views/overview-views.ts';

export async function act(access: Access): Promise<Overview> {
  return access.look(async (context) => {
    const isOrchestrated = await access.here.isOrchestrated();
    const overview = await loadOverview(context, { isOrchestrated, readyLimit: 0 });
    const needsYou = await Promise.all(overview.needsYou.map((need) => withAsker(context.board, need)));
    return { ...overview, needsYou };
  });
}

export function view(overview: Overview) {
  const { at, needsYou } = overviewView(overview);
  return { at, needsYou };
}

/** With the agent that worked on it last: it asks, or it finished what is reviewed. */
export async function withAsker(board: BoardReader, need: NeedsYou): Promise<NeedsYou> {
  if (need.agent !== null) return need;
  const session = (await board.get('task', need.task))?.session;
  const agent = session ? ((await board.get('session', session))?.agent ?? null) : null;
  return { ...need, agent };
}
