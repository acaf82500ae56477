/**
 * What a person accepted of the files that give power, with their contents, and of the branches that remotes name as theirs.
 *
 * The record is in the repository's git directory: agents in a sandbox cannot write there, and neither a clone nor a landing
 * brings one along. As long as there is none, the files count as they are; the first command of a person makes it.
 *
 * Every command reads it, so this file loads little.
 */

import { readdirSync } from 'node:fs';
import path from 'node:path';

import { powerFileNames } from '../../config/power-files.ts';
import { shellWord } from '../../kernel/shell.ts';
import { readIfThere, readPlainFile } from '../../kernel/system/plain-file.ts';
import { RepositoryUnavailable } from '../unavailable.ts';
import { type PowerFiles, filesIn, scriptNamedBy } from './files.ts';

export interface Accepted {
  /** Contents by name, relative to the main checkout; null for a file that is absent or not plain. */
  readonly files: Readonly<Record<string, string | null>>;
  /** By remote: the branch that its HEAD names. */
  readonly heads: Readonly<Record<string, string>>;
  /** What the accepted copse.yml says: to read YAML takes a third of the time of a command. */
  readonly config?: { readonly text: string; readonly value: unknown };
}

export interface PowerPlace {
  readonly commonDir: string;
  readonly configFolder: string;
}

export function loadAccepted({ commonDir }: Pick<PowerPlace, 'commonDir'>): Accepted | undefined {
  const file = recordFile(commonDir);
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  try {
    const { files, heads, config } = JSON.parse(text) as Partial<Accepted>;
    if (files && heads) return { files, heads, ...(config && { config }) };
  } catch {
    // Said below.
  }
  throw new RepositoryUnavailable(
    `${file}, the record of what you accepted of this repository, is damaged.`,
    `rm ${shellWord(file)} # to remove the record, after you look at copse.yml`,
  );
}

export function recordFile(commonDir: string): string {
  return path.join(commonDir, 'copse', 'accepted.json');
}

/** What there is to accept now. */
export function presentPower({ commonDir, configFolder }: PowerPlace): Accepted {
  const present = filesIn(configFolder);
  const script = scriptNamedBy(present.read('.cursor/worktrees.json'));
  const names = [...powerFileNames, ...(script === undefined ? [] : [script])];
  const files = names.map((name) => {
    const found = present.read(name);
    return [name, found.kind === 'text' ? found.text : null] as const;
  });
  return { files: Object.fromEntries(files), heads: headsIn(commonDir) };
}

/** The contents that count. Each reading asks the record again: a person may accept a change while agents run. */
export function acceptedFiles(place: PowerPlace): PowerFiles {
  const present = filesIn(place.configFolder);
  return {
    read(name) {
      const accepted = loadAccepted(place);
      const text = accepted && own(accepted.files, name);
      if (typeof text === 'string') return { kind: 'text', text, ...valueOf(accepted, text) };
      const found = present.read(name);
      if (accepted === undefined) return found;
      // A person is told why a file of another tool is not used; a landed link must not stop every command.
      return found.kind === 'unclear' && name !== 'copse.yml' ? found : { kind: 'absent' };
    },
  };
}

/** None for a text that was put into the record by hand, or by a Copse that recorded no values. */
function valueOf(accepted: Accepted | undefined, text: string): { readonly value?: unknown } {
  const { config } = accepted ?? {};
  return config?.text === text ? { value: config.value } : {};
}

/** The branch that counts as the remote's own. A remote that a person added later names none. */
export function acceptedHead(
  commonDir: string,
  remote: string,
  named: string | undefined,
): string | undefined {
  const accepted = loadAccepted({ commonDir });
  return accepted === undefined ? named : own(accepted.heads, remote);
}

/** Names come from the repository, and one may be `constructor`. */
export function own<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** Remotes with a slash in their name are left out, as in `git remote set-head`. */
function headsIn(commonDir: string): Readonly<Record<string, string>> {
  const folder = path.join(commonDir, 'refs', 'remotes');
  const heads = remotesIn(folder).flatMap((remote) => {
    const named = remoteHeadOf(commonDir, remote);
    return named === undefined ? [] : [[remote, named] as const];
  });
  return Object.fromEntries(heads);
}

function remotesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const LONGEST_REF_BYTES = 4_096;

/** The branch that `refs/remotes/<remote>/HEAD` names. */
export function remoteHeadOf(commonDir: string, remote: string): string | undefined {
  const prefix = `refs/remotes/${remote}/`;
  const found = readPlainFile(path.join(commonDir, prefix, 'HEAD'), LONGEST_REF_BYTES);
  if (found.kind !== 'plain') return undefined;
  const [, target] = /^ref: (.+)$/.exec(found.value.text.trimEnd()) ?? [];
  return target?.startsWith(prefix) ? target.slice(prefix.length) : undefined;
}
