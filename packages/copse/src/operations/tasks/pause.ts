import { type Stopped, pauseTask } from '../../agents/act/stop-task.ts';
import { contextToStop } from '../../queue/context.ts';
import { type Access, runOf } from '../access.ts';
import { orFail } from '../failure.ts';
import { stoppedView } from './views.ts';

interface Input {
  readonly task: string;
}

export async function act(access: Access, { task }: Input): Promise<Stopped> {
  return runOf({ access, task, placeOf: contextToStop }, async (context, id) =>
    orFail(await pauseTask(context, id)),
  );
}

export function view(stopped: Stopped) {
  return stoppedView(stopped);
}
