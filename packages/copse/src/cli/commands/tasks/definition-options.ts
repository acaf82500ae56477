/** The options that `add` and `edit` share. `--no-…` arrives as false and clears the value. */

import type { Context } from '../../../board/context.ts';
import type { DefinitionInput } from '../../../tasks/act/definition.ts';
import { requirePlanId } from '../../with-board.ts';

export interface DefinitionOptions {
  readonly priority?: string;
  readonly kind?: string;
  readonly area?: readonly string[] | false;
  readonly requires?: readonly string[] | false;
  readonly accept?: readonly string[] | false;
  readonly plan?: string | false;
  readonly agent?: string | false;
}

export async function readDefinitionOptions(
  { board }: Context,
  options: DefinitionOptions,
): Promise<DefinitionInput> {
  const { priority, kind, plan, agent } = options;
  return {
    priority,
    kind,
    areas: options.area === false ? [] : options.area,
    requires: options.requires === false ? [] : options.requires,
    accept: options.accept === false ? [] : options.accept,
    agent: agent === false ? null : agent,
    plan: plan === false ? null : plan === undefined ? undefined : await requirePlanId(board, plan),
  };
}
