import { taskFrom } from '../../board/rules/author.ts';
import { loadOverview } from '../../explain/overview.ts';
import type { Overview } from '../../explain/rules/overview.ts';
import { type Why, whyTask } from '../../explain/why.ts';
import type { LookContext } from '../../queue/context.ts';
import type { Access } from '../access.ts';
import { taskOfFolder } from '../task-here.ts';
import { overviewView } from '../views/overview-views.ts';

interface Input {
  /** At most so many ready tasks; `counts.ready` counts all. */
  readonly readyLimit?: number | undefined;
}

interface StatusNow {
  readonly overview: Overview;
  /** The task of the worktree around the caller, or of the agent that asks. */
  readonly here: Why | undefined;
}

export async function act(access: Access, { readyLimit }: Input): Promise<StatusNow> {
  return access.look(async (context) => {
    const isOrchestrated = await access.here.isOrchestrated();
    const limits = readyLimit === undefined ? {} : { readyLimit };
    const overview = await loadOverview(context, { isOrchestrated, ...limits });
    return { overview, here: await whyHere(access, context, isOrchestrated) };
  });
}

export function view({ overview, here }: StatusNow) {
  return overviewView(overview, here);
}

async function whyHere(
  { env, here }: Access,
  context: LookContext,
  isOrchestrated: boolean,
): Promise<Why | undefined> {
  const id =
    (await taskOfFolder(context.board, here)) ?? (context.by.kind === 'session' ? taskFrom(env) : undefined);
  const why = id === undefined ? undefined : await whyTask(context, id, { isOrchestrated });
  return why?.kind === 'done' ? why.value : undefined;
}
