import { type LandingUndone, undoLanding } from '../../queue/act/undo-landing.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { requireTaskId } from '../find.ts';
import { undoneView } from '../views/review-views.ts';

interface Input {
  readonly task: string;
}

export async function act(access: Access, { task }: Input): Promise<LandingUndone> {
  return undoOf(access, task, { isTrial: false });
}

/** A trial changes nothing. */
export async function undoOf(
  access: Access,
  text: string,
  options: { readonly isTrial: boolean },
): Promise<LandingUndone> {
  return access.reverting(async (context) =>
    orFail(await undoLanding(context, await requireTaskId(context.board, text), options)),
  );
}

export function view(undone: LandingUndone) {
  return undoneView(undone);
}
