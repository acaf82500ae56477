/**
 * Folders of Copse in this user's cache folder, which only this user can read and write.
 *
 * Loaded before the version of Node is checked, so nothing is imported.
 */

export type CacheEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * `copse-compiled`: compile-cache.ts. `copse-teardown`: the checkouts of the base in which teardown commands run, outside of every
 * repository. `copse-serve`: the tokens of running servers.
 */
export type CacheName = 'copse-compiled' | 'copse-teardown' | 'copse-serve';

/** Made when it is missing. Undefined when there is no place that only this user can write. */
export function privateCache(env: CacheEnvironment, name: CacheName): string | undefined {
  const { lstatSync } = process.getBuiltinModule('node:fs');
  const caches = cachesOf(env);
  if (caches === undefined) return undefined;
  const folder = `${caches}/${name}`;
  const look = () => lstatSync(folder, { throwIfNoEntry: false });
  if (look() === undefined) [caches, folder].forEach(make);
  const found = look();
  const isPrivate = found?.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  return isPrivate ? folder : undefined;
}

/** Where it is, or would be. */
export function cachePlace(env: CacheEnvironment, name: CacheName): string | undefined {
  const caches = cachesOf(env);
  return caches && `${caches}/${name}`;
}

function cachesOf({ XDG_CACHE_HOME, HOME }: CacheEnvironment): string | undefined {
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
