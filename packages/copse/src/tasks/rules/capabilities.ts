import type { AgentName } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';

export type CapabilityCheck =
  | { readonly ok: true; readonly capability: string }
  | { readonly ok: false; readonly reason: string };

// Kebab words, then perhaps a qualifier that may hold a version: `gpu`, `code-review`, `node:22`, `python:3.12`.
const CAPABILITY = /^[a-z0-9]+(?:-[a-z0-9]+)*(?::[a-z0-9]+(?:[-.][a-z0-9]+)*)?$/;

/** Capital letters are accepted and stored small, so that `GPU` and `gpu` are one capability. */
export function parseCapability(text: string): CapabilityCheck {
  const capability = text.trim().toLowerCase();
  const longest = defaultPolicy.text.nameLength;
  if (capability === '') return { ok: false, reason: 'A capability is empty: name one, such as typescript' };
  if (capability.length > longest) {
    return {
      ok: false,
      reason: `A capability has at most ${longest} characters; this one has ${capability.length}`,
    };
  }
  if (!CAPABILITY.test(capability)) {
    return {
      ok: false,
      reason: `${JSON.stringify(text)} is not a capability: use words joined by dashes, such as code-review, or a name and a version, such as node:22`,
    };
  }
  return { ok: true, capability };
}

/**
 * What the agent lacks, in the order asked for. Requiring `node` is met by an agent that offers `node:22`; requiring
 * `node:22` is met by nothing else, because versions are words here and are never compared.
 */
export function missingCapabilities(
  required: readonly string[],
  offered: readonly string[],
): readonly string[] {
  const met = new Set(metCapabilities(offered));
  return [...new Set(required)].filter((capability) => !met.has(capability));
}

/** Everything that an agent with these capabilities can be asked for. */
export function metCapabilities(offered: readonly string[]): readonly string[] {
  const unqualified = offered.filter((capability) => capability.includes(':'));
  return [...new Set([...offered, ...unqualified.map((capability) => capability.replace(/:.*$/, ''))])];
}

export type TakeDecision = { readonly can: true } | { readonly can: false; readonly reason: string };

/** Whether an agent may work on a task. Naming an agent narrows the choice; it does not excuse missing capabilities. */
export function canTake(
  task: { readonly requires: readonly string[]; readonly agent: AgentName | null },
  agent: { readonly name: AgentName; readonly capabilities: readonly string[] },
): TakeDecision {
  if (task.agent !== null && task.agent !== agent.name) {
    return { can: false, reason: `it is for the agent ${task.agent}, not for ${agent.name}` };
  }
  const missing = missingCapabilities(task.requires, agent.capabilities);
  if (missing.length > 0) {
    return { can: false, reason: `the agent ${agent.name} does not offer ${missing.join(', ')}` };
  }
  return { can: true };
}
