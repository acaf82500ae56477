import type { Access, PendingSettings } from '../access.ts';
import { fail } from '../failure.ts';
import { refuseSession } from './by-person.ts';

interface Input {
  /** Of the changes that the person saw: others are not accepted. */
  readonly version: string;
}

/** The names of the files that are accepted now. */
export async function act(access: Access, { version }: Input): Promise<readonly string[]> {
  refuseSession(access, 'accept settings');
  const pending = await access.here.pendingSettings();
  if (pending.version !== version)
    fail('wrong_status', 'The files changed since they were shown.', 'copse config pending');
  return acceptShown(access, pending);
}

export function view(accepted: readonly string[]) {
  return { accepted };
}

/** Exactly what was shown, whatever the files say by now. */
export async function acceptShown(access: Access, pending: PendingSettings): Promise<readonly string[]> {
  refuseSession(access, 'accept settings');
  refuseProblems(pending);
  if (pending.changes.length > 0 || pending.isFirst) await pending.accept();
  return pending.changes.map(({ name }) => name);
}

export function refuseProblems({ changes }: Pick<PendingSettings, 'changes'>): void {
  for (const { name, problem } of changes)
    if (problem !== null)
      fail('invalid', `${name} cannot be accepted: ${problem}`, 'copse config accept # after you correct it');
}
