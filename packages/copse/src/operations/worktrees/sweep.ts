import { sizeText } from '../../explain/rules/amounts.ts';
import { amountOf, bytesOf } from '../../workspaces/rules/sweep/amount.ts';
import type { SweepContext } from '../../workspaces/sweep/context.ts';
import { type Swept, previewSweep, sweep } from '../../workspaces/sweep/sweep.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';
import { sweepView } from '../views/sweep-views.ts';

interface Input {
  /** Without it, nothing is removed. */
  readonly isConfirmed?: boolean | undefined;
}

interface SweepDone {
  /** Undefined when another process sweeps. */
  readonly swept: Swept | undefined;
  /** The main checkout. */
  readonly root: string;
}

export async function act(access: Access, { isConfirmed = false }: Input): Promise<SweepDone> {
  return access.sweep(async (context) => {
    if (!isConfirmed) await refuseToRemove(context);
    return { swept: await sweep(context, { isMeasured: true }), root: context.root };
  });
}

export function view({ swept }: SweepDone) {
  return swept === undefined ? { busy: true as const } : sweepView(swept, swept.swept);
}

async function refuseToRemove(context: SweepContext): Promise<never> {
  const { items } = await previewSweep(context, { isMeasured: true });
  const going = items.filter(({ verdict }) => verdict.kind === 'goes');
  const what = going.length === 0 ? 'nothing' : `${amountOf(going)} (${sizeText(bytesOf(going))})`;
  return fail(
    'wrong_status',
    `Nothing was removed: the sweep was not confirmed (isConfirmed). It would remove ${what} now.`,
    'copse sweep --dry-run # to see each of them',
    'copse sweep # to remove them',
  );
}
