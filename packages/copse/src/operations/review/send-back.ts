import type { GoneOn } from '../../agents/act/go-on.ts';
import { sendBack } from '../../review/act/review.ts';
import { type Access, runOf } from '../access.ts';
import { orFail } from '../failure.ts';
import { startedView } from '../tasks/views.ts';

interface Input {
  readonly task: string;
  readonly comment: string;
  /** A shell command to use as the agent. */
  readonly command?: string | undefined;
}

export async function act(access: Access, { task, comment, command }: Input): Promise<GoneOn> {
  return runOf({ access, task, command }, async (context, id) =>
    orFail(await sendBack(context, id, comment, context.unusable ?? [])),
  );
}

export function view(sent: GoneOn) {
  return startedView(sent);
}
