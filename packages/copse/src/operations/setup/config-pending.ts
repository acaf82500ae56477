import type { Access, PendingSettings } from '../access.ts';

export async function act({ here }: Access): Promise<PendingSettings> {
  return here.pendingSettings();
}

export function view({ changes, version }: Pick<PendingSettings, 'changes' | 'version'>) {
  return { changes, version };
}
