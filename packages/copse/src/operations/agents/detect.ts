import type { Access, InstalledProgram } from '../access.ts';

export async function act(access: Access): Promise<readonly InstalledProgram[]> {
  return access.here.agentPrograms();
}

export function view(runtimes: readonly InstalledProgram[]) {
  return { runtimes };
}
