/**
 * V8's cache of compiled code, in a folder that only this user can write: V8 compares a cache with the length of its source and
 * runs it. Node's own choice, the folder for temporary files, is one that other users and agents in a sandbox write to.
 */

import { type CacheEnvironment, privateCache } from './private-cache.ts';

/** Programs work without it; they then start some milliseconds later. */
export function useCompileCache(env: CacheEnvironment = process.env): void {
  const folder = privateCache(env, 'copse-compiled');
  if (folder !== undefined) process.getBuiltinModule('node:module').enableCompileCache(folder);
}
