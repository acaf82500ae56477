/**
 * What the repository's own files may decide: only what a person accepted. A change of one of them, by a landing, a pull or an
 * editor, is pending until a person has seen it; until then the accepted contents count.
 *
 * Every command of a person asks this first, so it loads little.
 */

import { type PowerFiles, filesIn } from '../git/accepted/files.ts';
import { type Accepted, acceptedFiles, loadAccepted, own, presentPower } from '../git/accepted/record.ts';
import { configValue, isSameConfig, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { decidedBy } from '../config/power-files.ts';
import { hasCode } from '../kernel/system/error-code.ts';
import { Unavailable } from '../kernel/unavailable.ts';
import type { Repository } from './open.ts';

interface PendingChange {
  /** A file, or `refs/remotes/<remote>/HEAD`. */
  readonly name: string;
  /** What it decides. */
  readonly decides: string;
  /** To be shown, without secrets. */
  readonly before: string | null;
  readonly now: string | null;
  /** Why it cannot be accepted as it is. */
  readonly problem: string | null;
}

export interface Pending {
  readonly changes: readonly PendingChange[];
  /** What the changes were found in: exactly this is accepted, whatever the files say by then. */
  readonly present: Accepted;
  readonly isFirst: boolean;
}

/** Without a record, everything that is there. */
export async function loadPending(repository: Repository): Promise<Pending> {
  const recorded = loadAccepted(repository);
  const present = presentPower(repository);
  const accepted = recorded ?? { files: {}, heads: {} };
  const isFirst = recorded === undefined;
  const changes: PendingChange[] = [];
  for (const [name, now] of Object.entries(present.files)) {
    const before = own(accepted.files, name) ?? null;
    const unclear = now === null && name === 'copse.yml' ? unclearConfig(repository) : null;
    if (unclear === null && (await isSame(name, before, now))) continue;
    const problem = unclear ?? (name === 'copse.yml' && now !== null ? await problemOf(now) : null);
    const { hideSecrets } = await import('../config/problems/hide.ts');
    const hide = (text: string | null) => text && hideSecrets(name, text);
    changes.push({ name, decides: decidedBy(name), before: hide(before), now: hide(now), problem });
  }
  if (!isFirst) changes.push(...(await headChanges(repository, accepted, present)));
  return { changes, present, isFirst };
}

export async function accept(repository: Repository, { present }: Pick<Pending, 'present'>): Promise<void> {
  const { saveAccepted } = await import('../git/accepted/save.ts');
  const text = present.files['copse.yml'] ?? undefined;
  const value = text && (await configValue(text));
  const { files, heads } = present;
  saveAccepted(repository, { files, heads, ...(text && value !== undefined && { config: { text, value } }) });
}

/** Files that a person does not agree to, or that cannot be used, count as absent. */
export async function acceptAtFirst(
  repository: Repository,
  { changes, present }: Pending,
  { isAgreed }: { readonly isAgreed: boolean },
): Promise<void> {
  const refused = new Set(
    changes.flatMap(({ name, problem }) => (isAgreed && problem === null ? [] : [name])),
  );
  const files = Object.entries(present.files).map(([name, now]) => [name, refused.has(name) ? null : now]);
  await accept(repository, {
    present: { ...present, files: Object.fromEntries(files) as Accepted['files'] },
  });
}

/** For a copse.yml that Copse has just written for a person. */
export async function acceptConfig(repository: Repository, text: string): Promise<void> {
  const { files, heads } = loadAccepted(repository) ?? presentPower(repository);
  await accept(repository, { present: { files: { ...files, 'copse.yml': text }, heads } });
}

/**
 * The first command of a person accepts what is there. Returns the files; none when they cannot be accepted: the command then
 * says what is wrong with copse.yml.
 */
export async function acceptFirst(repository: Repository, pending: Pending): Promise<readonly string[]> {
  if (pending.changes.some(({ problem }) => problem !== null)) return [];
  try {
    await accept(repository, pending);
  } catch (error) {
    // A repository that only others may write: nothing can land there either.
    if (hasCode(error, 'EACCES', 'EROFS', 'EPERM')) return [];
    throw error;
  }
  return pending.changes.map(({ name }) => name);
}

/** Undefined when no change of copse.yml waits for a person, or when it has a mistake. */
export async function pendingConfig(repository: Repository): Promise<Config | undefined> {
  const { changes, present } = await loadPending(repository);
  const change = changes.find(({ name }) => name === 'copse.yml');
  const text = present.files['copse.yml'];
  return change === undefined || change.problem !== null || !text ? undefined : loadConfig(text);
}

/** The files as they are, or as far as they count. */
export function readPower(repository: Repository, which: 'present' | 'accepted'): PowerFiles {
  return which === 'present' ? filesIn(repository.configFolder) : acceptedFiles(repository);
}

async function isSame(name: string, before: string | null, now: string | null): Promise<boolean> {
  if (before === now) return true;
  return name === 'copse.yml' && isSameConfig(before ?? '', now ?? '');
}

function unclearConfig({ configFolder }: Repository): string | null {
  const found = filesIn(configFolder).read('copse.yml');
  return found.kind === 'unclear' ? found.why : null;
}

async function problemOf(text: string): Promise<string | null> {
  try {
    await loadConfig(text);
    return null;
  } catch (error) {
    if (error instanceof Unavailable) return error.message;
    throw error;
  }
}

/** A remote's HEAD that names another branch matters only if Copse would use it. */
async function headChanges(
  repository: Repository,
  { heads: before }: Accepted,
  { heads: now }: Accepted,
): Promise<readonly PendingChange[]> {
  const changed = Object.entries(now).filter(([remote, named]) => own(before, remote) !== named);
  if (changed.length === 0) return [];
  const { openTrustedDir } = await import('../git/directory/trusted-dir.ts');
  const { baseByFiles } = await import('../git/refs/base-by-files.ts');
  const dir = openTrustedDir(repository);
  const base = baseByFiles(dir);
  return changed
    .filter(([remote, named]) => remote === dir.remembered.remote && named !== base)
    .map(([remote, named]) => ({
      name: `refs/remotes/${remote}/HEAD`,
      decides: 'the branch that tasks start from and land on',
      before: base,
      now: named,
      problem: null,
    }));
}
