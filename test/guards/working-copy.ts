import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

const MODULE_FOLDERS = ['node_modules', 'packages/copse/node_modules'];

/** Copies what a clone of the working tree would contain, or a part of it: neither dependencies nor anything built. */
export function copyWorkingTree(destination: string, isWanted: (file: string) => boolean = () => true): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: projectRoot,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of new Set(listed.split('\0'))) {
    const source = join(projectRoot, file);
    // Deleted files are listed until the deletion is committed.
    if (file === '' || !isWanted(file) || !existsSync(source) || !lstatSync(source).isFile()) continue;
    mkdirSync(dirname(join(destination, file)), { recursive: true });
    copyFileSync(source, join(destination, file));
  }
}

/** Lets a copy use the packages that another clone has installed, those of the workspace package included. */
export function linkModules(from: string, to: string): void {
  for (const folder of MODULE_FOLDERS) {
    if (existsSync(join(from, folder))) symlinkSync(join(from, folder), join(to, folder));
  }
}
