import { mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { writeAtomically } from '../../packages/copse/src/kernel/system/write-atomically.ts';
import { newArea } from '../support/cli.ts';

const area = newArea();
let folders = 0;

function newFolder(): string {
  folders += 1;
  const folder = path.join(area, String(folders));
  mkdirSync(folder);
  return folder;
}

describe('writing a file atomically', () => {
  it('replaces a link of that name and leaves the file it leads to alone', () => {
    const folder = newFolder();
    const [file, elsewhere] = [path.join(folder, 'file'), path.join(folder, 'elsewhere')];
    writeFileSync(elsewhere, 'theirs');
    symlinkSync(elsewhere, file);
    writeAtomically(file, 'ours');
    expect(readFileSync(file, 'utf8')).toBe('ours');
    expect(readFileSync(elsewhere, 'utf8')).toBe('theirs');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('leaves no temporary file behind, whether it succeeds or fails', () => {
    const folder = newFolder();
    mkdirSync(path.join(folder, 'taken', 'deeper'), { recursive: true });
    writeAtomically(path.join(folder, 'file'), 'text', { isDurable: true });
    expect(() => writeAtomically(path.join(folder, 'taken'), 'text')).toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
    expect(readdirSync(folder).toSorted()).toEqual(['file', 'taken']);
  });

  it('sets the given mode and time, and can use a separate folder for the temporary file', () => {
    const folder = newFolder();
    const scratch = path.join(folder, 'scratch');
    mkdirSync(scratch);
    const modified = new Date(1_500_000_000_000);
    writeAtomically(path.join(folder, 'file'), Buffer.from([1, 2]), {
      mode: 0o700,
      modified,
      temporaryFolder: scratch,
    });
    expect(statSync(path.join(folder, 'file')).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(folder, 'file')).mtime).toEqual(modified);
    expect(readdirSync(scratch)).toEqual([]);
  });
});
