import type { GoneOn } from '../../agents/act/go-on.ts';
import { sendBack } from '../../review/act/review.ts';
import { type LineComment, reviewComment } from '../../review/rules/line-comments.ts';
import { type Access, runOf } from '../access.ts';
import { orFail } from '../failure.ts';
import { startedView } from '../tasks/views.ts';

interface Input {
  readonly task: string;
  readonly comment?: string | undefined;
  readonly lines?: readonly LineComment[] | undefined;
  /** The commit whose lines these are. */
  readonly head?: string | undefined;
  /** A shell command to use as the agent. */
  readonly command?: string | undefined;
}

export async function act(access: Access, { task, command, ...comments }: Input): Promise<GoneOn> {
  return runOf({ access, task, command }, async (context, id) =>
    orFail(await sendBack(context, id, reviewComment(comments), context.unusable ?? [])),
  );
}

export function view(sent: GoneOn) {
  return startedView(sent);
}
