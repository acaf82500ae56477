import path from 'node:path';

import type { TaskId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { type EscapeMoved, moveEscape } from '../../../workspaces/discard/escape-guard.ts';
import type { Access } from '../../access.ts';
import { fail } from '../../failure.ts';
import { requireTaskId } from '../../find.ts';
import { refuseElsewhere, stop } from '../task-of-worktree.ts';

interface Input {
  readonly task: string;
  /** Files of the main checkout, from its top; without them: those that the task's agent changed there. */
  readonly paths?: readonly string[] | undefined;
}

type MovedFiles = Extract<EscapeMoved, { kind: 'moved' }> & { readonly task: TaskId };

export async function act(access: Access, { task: text, paths: named = [] }: Input): Promise<MovedFiles> {
  return access.workspaces(async (context) => {
    const task = await requireTaskId(context.board, text);
    await refuseElsewhere(context, task);
    const paths = named.map((one) => requireInside(context.root, one));
    const outcome = await moveEscape(context, { task, ...(paths.length > 0 && { paths }) });
    return outcome.kind === 'refused' ? stop(outcome) : { ...outcome, task };
  });
}

export function view({ task, moved, left, rescue }: MovedFiles) {
  return { task, moved, left, rescue };
}

/** From the top of the checkout. */
export function requireInside(root: string, name: string, from = root): string {
  const relative = path.relative(root, path.resolve(from, name));
  if (relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`)) return relative;
  return fail('invalid', `${shown(name)} is not inside the main checkout.`, `cd ${root}`);
}
