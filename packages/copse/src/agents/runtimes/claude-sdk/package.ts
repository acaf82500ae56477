/**
 * The Claude Agent SDK: a package of hundreds of megabytes that Copse does not install. Copse searches for it when it is
 * needed, with Node's rules: from Copse's own installation, and in npm's global folder. Never in a work tree of the repository:
 * a runner must not load code that an agent could have written.
 */

import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { RuntimeUnavailable } from '../../ports/runtime.ts';
import type { SdkOptions } from './options.ts';

export const SDK_PACKAGE = '@anthropic-ai/claude-agent-sdk';

/** The used part of its interface; its own types exist only where it is installed. */
export interface ClaudeSdk {
  query(question: { readonly prompt: string; readonly options: SdkOptions }): SdkQuery;
}

export interface SdkQuery extends AsyncIterable<unknown> {
  interrupt(): Promise<unknown>;
}

export async function loadClaudeSdk(search: PackageSearch): Promise<ClaudeSdk> {
  const file = findClaudeSdk(search);
  if (file === undefined)
    throw new RuntimeUnavailable(
      `The runtime claude-sdk needs the package ${SDK_PACKAGE}, which is not installed outside of the repository. Install it: npm install --global ${SDK_PACKAGE}`,
    );
  const sdk: unknown = await import(pathToFileURL(file).href);
  if (isSdk(sdk)) return sdk;
  throw new RuntimeUnavailable(
    `Copse cannot use this version of ${SDK_PACKAGE}: ${file}. Update it: npm install --global ${SDK_PACKAGE}@latest`,
  );
}

export interface PackageSearch {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether a file is outside of the repository. */
  readonly mayTake: (file: string) => boolean;
  /** Searched first; for an installation that is neither Copse's own nor npm's global one. */
  readonly folders?: readonly string[];
}

/** The package's main file; undefined when it is not installed. */
export function findClaudeSdk(search: PackageSearch): string | undefined {
  return findPackageFile(SDK_PACKAGE, search);
}

/** A package, or a file in one, that the user may have installed. */
export function findPackageFile(
  name: string,
  { environment, mayTake, folders = [] }: PackageSearch,
): string | undefined {
  const own = path.dirname(fileURLToPath(import.meta.url));
  const places = [...folders, own, ...globalFolders(environment)];
  return places.map((folder) => findFrom(folder, name)).find((file) => file !== undefined && mayTake(file));
}

function findFrom(folder: string, name: string): string | undefined {
  try {
    return createRequire(path.join(folder, 'from-here.js')).resolve(name);
  } catch {
    return undefined;
  }
}

/** npm installs global programs into `<prefix>/bin`, and their packages into `<prefix>/lib/node_modules`. */
function globalFolders(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const { PATH = '', NPM_CONFIG_PREFIX, npm_config_prefix } = environment;
  const places = PATH.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const prefixes = places.filter((folder) => path.basename(folder) === 'bin').map((bin) => path.dirname(bin));
  return (
    [NPM_CONFIG_PREFIX, npm_config_prefix, ...prefixes, path.dirname(path.dirname(process.execPath))]
      .filter((prefix): prefix is string => prefix !== undefined && path.isAbsolute(prefix))
      .map((prefix) => path.join(prefix, 'lib'))
      // On Windows they are next to the programs.
      .concat(process.platform === 'win32' ? places : [])
  );
}

function isSdk(value: unknown): value is ClaudeSdk {
  return typeof value === 'object' && value !== null && 'query' in value && typeof value.query === 'function';
}
