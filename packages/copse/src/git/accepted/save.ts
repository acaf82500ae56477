/** Writes what a person accepted, and scripts as they were accepted. */

import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { writeAtomically } from '../../kernel/system/write-atomically.ts';
import { type PowerFiles, filesIn } from './files.ts';
import { type Accepted, type PowerPlace, acceptedFiles, recordFile } from './record.ts';
import { RepositoryUnavailable } from '../unavailable.ts';

export function saveAccepted({ commonDir }: Pick<PowerPlace, 'commonDir'>, accepted: Accepted): void {
  const file = recordFile(commonDir);
  const text = JSON.stringify(accepted, null, 1);
  if (Buffer.byteLength(text) > MOST_BYTES) throw tooLarge(accepted);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeAtomically(file, text, { isDurable: true });
}

/** Larger files are not read back. */
const MOST_BYTES = defaultPolicy.files.smallBytes;

function tooLarge({ files }: Accepted): RepositoryUnavailable {
  const sizes = Object.entries(files).map(([name, text]) => ({ name, bytes: JSON.stringify(text).length }));
  const [largest] = sizes.toSorted((one, other) => other.bytes - one.bytes);
  return new RepositoryUnavailable(
    `The files that decide what Copse runs are too large to be accepted: together they take more than ${MOST_BYTES} bytes as JSON.`,
    `copse config accept # after you made ${largest?.name ?? 'copse.yml'} smaller, which is the largest`,
  );
}

export interface RunnableFiles extends PowerFiles {
  /** A file with the contents that count, to be run; undefined when there are none. */
  place(name: string): string | undefined;
}

export function runnableFiles(place: PowerPlace): RunnableFiles {
  const accepted = acceptedFiles(place);
  const present = filesIn(place.configFolder);
  return {
    read: (name) => accepted.read(name),
    place(name) {
      const [wanted, found] = [accepted.read(name), present.read(name)];
      if (wanted.kind !== 'text') return undefined;
      const isThere = found.kind === 'text' && found.text === wanted.text;
      return isThere ? path.join(place.configFolder, name) : copyOf(place.commonDir, wanted.text);
    },
  };
}

/** A script that changed since it was accepted runs as it was. */
function copyOf(commonDir: string, text: string): string {
  const folder = path.join(path.dirname(recordFile(commonDir)), 'scripts');
  const file = path.join(folder, createHash('sha256').update(text).digest('hex'));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeAtomically(file, text, { mode: text.startsWith('#!') ? 0o700 : 0o600 });
  return file;
}
