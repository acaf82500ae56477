import type { Ignored, Rescue, Rescues } from '../../../git/port.ts';
import { type Timestamp, timestamp } from '../../../kernel/ids.ts';
import type { Access } from '../../access.ts';
import { ignoredView, rescueView } from '../../views/workspace-views.ts';
import { requireRescue } from './find.ts';

interface Input {
  /** Its ref, or a part of it that no other rescue has. */
  readonly rescue: string;
}

export interface RescueDetails {
  readonly rescue: Rescue;
  readonly changes: Awaited<ReturnType<Rescues['changes']>>;
  /** Files that only the trash has; undefined when git could not tell. */
  readonly ignored: Ignored | undefined;
  /** Its worktree is in the trash until then at least; null if it is not there. */
  readonly trashedUntil: Timestamp | null;
  readonly at: Timestamp;
}

export async function act(access: Access, input: Input): Promise<RescueDetails> {
  return access.workspaces(async (context) => {
    const { clock, git, policy, rescues, trash } = context;
    const rescue = await requireRescue(context, input.rescue);
    const changes = await rescues.changes(rescue);
    const trashed = (await trash.list()).find(({ record }) => record.rescue === rescue.ref);
    return {
      rescue,
      changes,
      ignored: trashed ? await git.ignored(trashed) : { count: 0, first: [] },
      trashedUntil: trashed ? timestamp(trashed.record.at + policy.maintenance.trashAgeMs) : null,
      at: clock.now(),
    };
  });
}

export function view({ rescue, changes, ignored }: RescueDetails) {
  return { ...rescueView(rescue), changes, ignored: ignoredView(ignored) };
}
