/** The options that `add` and `edit` share. `--no-…` arrives as false and clears the value. */

import { usualAgents } from '../../../compose/on-demand.ts';
import { shown } from '../../../kernel/text.ts';
import type { Access } from '../../../operations/access.ts';
import { type TaskInput, requireAgent } from '../../../operations/tasks/definition.ts';
import type { Cli } from '../../invocation.ts';

export interface DefinitionOptions {
  readonly priority?: string;
  readonly kind?: string;
  readonly area?: readonly string[] | false;
  readonly requires?: readonly string[] | false;
  readonly accept?: readonly string[] | false;
  readonly plan?: string | false;
  readonly agent?: string | false;
}

export function readDefinitionOptions(options: DefinitionOptions): TaskInput {
  const { priority, kind, plan, agent } = options;
  return {
    priority,
    kind,
    areas: options.area === false ? [] : options.area,
    requires: options.requires === false ? [] : options.requires,
    accept: options.accept === false ? [] : options.accept,
    agent: agent === false ? null : agent,
    plan: plan === false ? null : plan,
  };
}

/** Tells the person that the task waits for an agent of that name, if there is none so far. */
export async function noteUnknownAgent(
  { output }: Cli,
  { here }: Access,
  { agent, json }: DefinitionOptions & { readonly json?: boolean },
): Promise<void> {
  if (json === true || typeof agent !== 'string') return;
  if ((await requireAgent(here, agent)) || (await usualAgents()).includes(agent)) return;
  output.note(`No agent is called ${shown(agent)} so far: the task waits until copse.yml has one.`);
}
