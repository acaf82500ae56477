/**
 * Which files a person wants in every worktree, as patterns in the syntax of `.gitignore`, so that git does the matching:
 * the lines of `.worktreeinclude` as they are, and the paths and globs of `copse.yml`, which begin at the root.
 */

import { lstatSync } from 'node:fs';
import path from 'node:path';

import type { PowerFiles } from '../../git/accepted/files.ts';
import type { Skipped } from '../ports/furnishing.ts';

interface Wanted {
  readonly patterns: readonly string[];
  /** Entries that name one file or folder, so that one that is not brought can be explained. */
  readonly named: readonly string[];
  readonly refused: readonly Skipped[];
}

const INCLUDE_FILE = '.worktreeinclude';

export function readIncludeFile(files: PowerFiles): Wanted {
  const found = files.read(INCLUDE_FILE);
  if (found.kind === 'absent') return { patterns: [], named: [], refused: [] };
  if (found.kind === 'unclear')
    return {
      patterns: [],
      named: [],
      refused: [{ path: INCLUDE_FILE, why: `It is not used: ${found.why}` }],
    };
  const lines = found.text
    .replace(/^\u{feff}/u, '')
    .split(/\r?\n/)
    // As git does it: spaces at the end mean nothing unless escaped.
    .map((line) => line.replace(/(?<!\\) +$/, ''))
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const leading = lines.filter(leadsOutside);
  return {
    patterns: lines.filter((line) => !leadsOutside(line)),
    named: [],
    refused: leading.map((line) => ({
      path: line,
      why: `${INCLUDE_FILE} cannot name paths outside the repository.`,
    })),
  };
}

/** `setting` is how the person knows the list: `workspace.copy` or `workspace.link`. */
export function wantedPaths(entries: readonly string[], setting: string, checkout: string): Wanted {
  const patterns: string[] = [];
  const named: string[] = [];
  const refused: Skipped[] = [];
  for (const entry of entries) {
    const why = refusal(entry, setting);
    if (why !== undefined) {
      refused.push({ path: entry, why });
      continue;
    }
    const plain = path.posix.normalize(entry).replace(/\/+$/, '');
    const isGlob =
      /[*?[\\]/.test(plain) && lstatSync(path.join(checkout, plain), { throwIfNoEntry: false }) === undefined;
    patterns.push(isGlob ? `/${plain}` : anchored(plain));
    if (!isGlob) named.push(plain);
  }
  return { patterns, named, refused };
}

/** The pattern for exactly this path. */
export function anchored(plain: string): string {
  return `/${plain.replaceAll(/[\\*?[]/g, String.raw`\$&`).replace(/ $/, String.raw`\ `)}`;
}

function refusal(entry: string, setting: string): string | undefined {
  if (path.isAbsolute(entry)) return `${setting} takes paths relative to the repository root.`;
  if (leadsOutside(entry)) return `${setting} cannot name paths outside the repository.`;
  if (/[\0\n\r]/.test(entry))
    return `${setting} cannot name files with line breaks; use a glob such as "a?b".`;
  if (['', '.'].includes(path.posix.normalize(entry).replace(/\/+$/, '')))
    return `${setting} cannot name the whole repository.`;
  if (isOff(entry)) return `${setting} cannot name the folders of git or of Copse.`;
  return undefined;
}

function leadsOutside(pattern: string): boolean {
  return pattern.split(/[/\\]/).includes('..');
}

/** Paths that are never brought. */
export function isOff(relative: string): boolean {
  const segments = relative.split('/').filter((segment) => segment !== '' && segment !== '.');
  return (
    segments[0]?.toLowerCase() === '.copse' || segments.some((segment) => segment.toLowerCase() === '.git')
  );
}
