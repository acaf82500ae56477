/**
 * V8's cache of compiled code, in a folder that only this user can write: V8 compares a cache with the length of its source and
 * runs it. Node's own choice, the folder for temporary files, is one that other users and agents in a sandbox write to.
 *
 * Loaded before the version of Node is checked, so nothing is imported.
 */

type Env = Readonly<Record<string, string | undefined>>;

/** Programs work without it; they then start some milliseconds later. */
export function useCompileCache(env: Env = process.env): void {
  const folder = compileCacheFolder(env);
  if (folder !== undefined) process.getBuiltinModule('node:module').enableCompileCache(folder);
}

/** Made when it is missing. Undefined when there is no place that only this user can write. */
export function compileCacheFolder(env: Env): string | undefined {
  const { lstatSync } = process.getBuiltinModule('node:fs');
  const caches = cachesOf(env);
  if (caches === undefined) return undefined;
  const folder = `${caches}/${NAME}`;
  const look = () => lstatSync(folder, { throwIfNoEntry: false });
  if (look() === undefined) [caches, folder].forEach(make);
  const found = look();
  const isPrivate = found?.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  return isPrivate ? folder : undefined;
}

const NAME = 'copse-compiled';

/** Where the cache is, or would be. No sandbox may open it. */
export function compileCachePlace(env: Env): string | undefined {
  const caches = cachesOf(env);
  return caches && `${caches}/${NAME}`;
}

function cachesOf({ XDG_CACHE_HOME, HOME }: Env): string | undefined {
  if (XDG_CACHE_HOME?.startsWith('/')) return XDG_CACHE_HOME;
  return HOME?.startsWith('/') ? `${HOME}/.cache` : undefined;
}

/** One at a time: where a system refuses new folders, as in /proc, Node's recursive way never ends. */
function make(folder: string): void {
  try {
    process.getBuiltinModule('node:fs').mkdirSync(folder, { mode: 0o700 });
  } catch {
    // It is there, or this home cannot be written.
  }
}
