/** The script that runs inside a sandbox, the one that starts bubblewrap, and whether the program exists. */

import path from 'node:path';

import { shellQuoted } from '../../kernel/shell.ts';
import type { StoreMount } from '../../git/objects.ts';
import type { Confinable } from '../../processes/ports/programs.ts';
import { findProgram, isProgram } from '../../kernel/system/find-program.ts';

/** Ends with `exec`, so that signals and the exit code are the program's own. */
export function scriptOf({ argv, folder }: Confinable, { isLocal }: { readonly isLocal: boolean }): string {
  return [
    // Inside, loopback is the sandbox's own: allowed local servers are reached through the proxy.
    ...(isLocal ? ['unset NO_PROXY no_proxy'] : []),
    `cd -- ${quoted(folder)} || exit 126`,
    `exec ${argv.map(quoted).join(' ')}`,
    '',
  ].join('\n');
}

/**
 * Adds mounts after those that the arguments have, so before the `--` that ends them. Without a `--` bubblewrap is only
 * asked what it can do; if a sandbox began without one, it would have no place to write objects.
 */
export function bwrapScript(mounts: readonly StoreMount[], bwrap: string): string {
  const words = mounts.flatMap(({ source, target, isWritable }) => [
    isWritable ? '--bind' : '--ro-bind',
    quoted(source),
    quoted(target),
  ]);
  return [
    '#!/bin/sh',
    'added=',
    'for word do',
    '  shift',
    '  if [ -z "$added" ] && [ "$word" = -- ]; then',
    `    set -- "$@" ${words.join(' ')}`,
    '    added=1',
    '  fi',
    '  set -- "$@" "$word"',
    'done',
    `exec ${quoted(bwrap)} "$@"`,
    '',
  ].join('\n');
}

function quoted(word: string): string {
  if (word.includes('\0')) throw new Error('An argument contains a NUL byte.');
  return shellQuoted(word);
}

/** A name with a slash is a path, relative to the folder that the program starts in. */
export function programExists({ argv: [name], folder, environment }: Confinable): boolean {
  if (name.includes('/')) return isProgram(path.resolve(folder, name));
  return findProgram(name, environment) !== undefined;
}
