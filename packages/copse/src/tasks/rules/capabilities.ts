import type { AgentName } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';

export type CapabilityCheck =
  | { readonly kind: 'accepted'; readonly capability: string }
  | { readonly kind: 'refused'; readonly reason: string };

// Words joined by dashes, then optionally a qualifier, such as a version: `gpu`, `code-review`, `node:22`, `python:3.12`.
const CAPABILITY = /^[a-z0-9]+(?:-[a-z0-9]+)*(?::[a-z0-9]+(?:[-.][a-z0-9]+)*)?$/;

/** Stored in lower case, so that `GPU` and `gpu` are one capability. */
export function parseCapability(text: string): CapabilityCheck {
  const capability = text.trim().toLowerCase();
  const longest = defaultPolicy.text.nameLength;
  if (capability === '')
    return { kind: 'refused', reason: 'A capability is empty: name one, such as typescript' };
  if (capability.length > longest) {
    return {
      kind: 'refused',
      reason: `A capability has at most ${longest} characters; this one has ${capability.length}`,
    };
  }
  if (!CAPABILITY.test(capability)) {
    return {
      kind: 'refused',
      reason: `${JSON.stringify(text)} is not a capability: use words joined by dashes, such as code-review, or a name and a version, such as node:22`,
    };
  }
  return { kind: 'accepted', capability };
}

/**
 * The required capabilities that the agent does not have. `node` is met by an agent with `node:22`; `node:22` is met only
 * by the same word, because versions are not compared.
 */
export function missingCapabilities(
  required: readonly string[],
  offered: readonly string[],
): readonly string[] {
  const met = new Set(metCapabilities(offered));
  return [...new Set(required)].filter((capability) => !met.has(capability));
}

/** All requirements that an agent with these capabilities meets. */
export function metCapabilities(offered: readonly string[]): readonly string[] {
  const unqualified = offered.filter((capability) => capability.includes(':'));
  return [...new Set([...offered, ...unqualified.map((capability) => capability.replace(/:.*$/, ''))])];
}

export type TakeDecision = { readonly kind: 'can' } | { readonly kind: 'cannot'; readonly reason: string };

/** Whether an agent may work on a task. A named agent needs the capabilities too. */
export function canTake(
  task: { readonly requires: readonly string[]; readonly agent: AgentName | null },
  agent: { readonly name: AgentName; readonly capabilities: readonly string[] },
): TakeDecision {
  if (task.agent !== null && task.agent !== agent.name) {
    return { kind: 'cannot', reason: `it is for agent ${task.agent}, not for ${agent.name}` };
  }
  const missing = missingCapabilities(task.requires, agent.capabilities);
  if (missing.length > 0) {
    const lacks = `lacks ${missing.join(', ')}`;
    const reason =
      task.agent === null ? `agent ${agent.name} ${lacks}` : `it is for agent ${agent.name}, which ${lacks}`;
    return { kind: 'cannot', reason };
  }
  return { kind: 'can' };
}
