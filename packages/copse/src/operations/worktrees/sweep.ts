import { type Swept, sweep } from '../../workspaces/sweep/sweep.ts';
import type { Access } from '../access.ts';
import { sweepView } from '../views/sweep-views.ts';

interface SweepDone {
  /** Undefined when another process sweeps. */
  readonly swept: Swept | undefined;
  /** The main checkout. */
  readonly root: string;
}

export async function act(access: Access): Promise<SweepDone> {
  return access.sweep(async (context) => ({
    swept: await sweep(context, { isMeasured: true }),
    root: context.root,
  }));
}

export function view({ swept }: SweepDone) {
  return swept === undefined ? { busy: true as const } : sweepView(swept, swept.swept);
}
