import { type GoneOn, resumeTask } from '../../agents/act/go-on.ts';
import { type Access, runOf } from '../access.ts';
import { orFail } from '../failure.ts';
import { startedView } from './views.ts';

interface Input {
  readonly task: string;
  readonly message?: string | undefined;
  /** A shell command to use as the agent. */
  readonly command?: string | undefined;
}

export async function act(access: Access, { task, message, command }: Input): Promise<GoneOn> {
  return runOf({ access, task, command }, async (context, id) =>
    orFail(await resumeTask(context, id, message ?? null)),
  );
}

export function view(started: GoneOn) {
  return startedView(started);
}
