/** The options that `add` and `edit` share. `--no-…` arrives as false and clears the value. */

import type { Context } from '../../../board/context.ts';
import type { DefinitionInput } from '../../../tasks/act/definition.ts';
import { usualAgents } from '../../../compose/on-demand.ts';
import { configOf, requireRepository } from '../../../compose/open.ts';
import { loadConfig } from '../../../config/load.ts';
import { nearest } from '../../../config/problems/nearest.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli } from '../../invocation.ts';
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

/**
 * An agent that copse.yml does not have is a mistake. If it names none, each machine uses the agent program that it has: then
 * the person is told that the task waits for one of that name.
 */
export async function checkAgent(cli: Cli, { agent, json }: DefinitionOptions & WithJson): Promise<void> {
  if (typeof agent !== 'string' || agent === '') return;
  const { agents } = await configOf(requireRepository(cli));
  const known = Object.keys(agents);
  if (known.includes(agent)) return;
  if (await isPending(cli, agent))
    fail('invalid', `The accepted copse.yml has no agent ${JSON.stringify(agent)}.`, 'copse config accept');
  if (known.length > 0) {
    const near = nearest(agent, known);
    const meant = near === undefined ? '' : ` Did you mean ${near}?`;
    fail(
      'invalid',
      `copse.yml has no agent ${JSON.stringify(agent)}.${meant} Agents: ${known.join(', ')}.`,
      'copse agents',
    );
  }
  if (json !== true && !(await usualAgents()).includes(agent))
    cli.output.note(`No agent is called ${shown(agent)} so far: the task waits until copse.yml has one.`);
}

/** Whether copse.yml has the agent, and no person has accepted that yet. */
async function isPending(cli: Cli, agent: string): Promise<boolean> {
  const { loadPending } = await import('../../../compose/accepted.ts');
  const { changes, present } = await loadPending(requireRepository(cli));
  const change = changes.find(({ name }) => name === 'copse.yml');
  const text = present.files['copse.yml'];
  if (change === undefined || change.problem !== null || !text) return false;
  return Object.hasOwn((await loadConfig(text)).agents, agent);
}

interface WithJson {
  readonly json?: boolean;
}
