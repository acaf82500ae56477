import type { Access, AgentProgram } from '../access.ts';

export async function act(access: Access): Promise<readonly AgentProgram[]> {
  return access.here.agentPrograms();
}

export function view(runtimes: readonly AgentProgram[]) {
  return { runtimes };
}
