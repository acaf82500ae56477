import type { LandingUndone } from '../../queue/act/undo-landing.ts';
import type { Access } from '../access.ts';
import { undoneView } from '../views/review-views.ts';
import { undoOf } from './undo-landing.ts';

interface Input {
  readonly task: string;
}

export async function act(access: Access, { task }: Input): Promise<LandingUndone> {
  return undoOf(access, task, { isTrial: true });
}

export function view(undone: LandingUndone) {
  return undoneView(undone);
}
