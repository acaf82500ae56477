import { type Stopped, cancelTask } from '../../agents/act/stop-task.ts';
import { contextToStop } from '../../queue/context.ts';
import { type Access, runOf } from '../access.ts';
import { orFail } from '../failure.ts';
import { stoppedView } from './views.ts';

interface Input {
  readonly task: string;
  readonly reason?: string | undefined;
}

export async function act(access: Access, { task, reason }: Input): Promise<Stopped> {
  return runOf({ access, task, placeOf: contextToStop }, async (context, id) =>
    orFail(await cancelTask(context, id, reason ?? null)),
  );
}

export function view(stopped: Stopped) {
  return stoppedView(stopped);
}
