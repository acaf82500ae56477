/** Phrases that make readers stop must not come back in messages, comments and documents. */

import { readFileSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';

import { describe, expect, test } from 'vitest';

import { projectRoot } from './working-copy.ts';

/** Each with a better way to say it. Whole words, in any case. */
const PHRASES: Readonly<Record<string, string>> = {
  'by itself': 'name who does it, or say "automatically" or "alone"',
  nobody: 'say what does not happen: "no agent is running"',
  somebody: 'name the actor: a person, another process, an orchestrator',
  anybody: 'name the actor, or say "any process"',
  everybody: 'say "all"',
  whoever: 'name the actor',
  'is believed': 'say "is valid" or "counts as"',
  'gets? in the way': 'say "conflicts with" or "blocks"',
  'get in each other’s way': 'say "conflict"',
  'as often as may be': 'give the number',
  'may be tried': 'say "can be retried"',
  'at the next look': 'give the time: "within 5 s"',
  'agent that could work': 'say "no agent is installed or configured"',
  'not as they must be': 'say which rule is broken',
  'although what must': 'say which command still fails',
  'to lead the queue': 'say "no orchestrator is running"',
  'may land without checks': 'say "needs passing checks"',
  'is not possible there': 'say "Cannot …: it is in progress"',
  'about to land': 'say "queued to land"',
  'which task is meant': 'say "no task given"',
  'is none of': 'say "must be a, b or c"',
  'renewed nothing': 'say "has not been heard from"',
  'becomes of': 'say "happens to"',
  'worktrees smaller': 'say "free disk space"',
  'is to be in memory': 'say "tmpfs"',
  'as good as none': 'say "is ignored"',
  'what holds for all': 'say "the defaults"',
  'keeps nobody from': 'say which failure is ignored',
  'version counts': 'say "Copse uses the accepted version"',
  'is tried again': 'say "is retried"',
  'there are uncommitted changes': 'say who left them: "the agent stopped without committing"',
  'Ready #': 'say "Created worktree for cp-…"',
};

/** Read by people: sources, texts of the dashboard, documents. Lists of tests (evidence) repeat the names of tests. */
const FILES = [
  ...filesBelow('packages/copse/src', '.ts'),
  ...filesBelow('packages/web/src', '.ts', '.tsx'),
  ...filesBelow('bench', '.ts'),
  ...filesBelow('scripts', '.ts', '.mjs'),
  ...filesBelow('docs', '.md').filter((file) => !file.endsWith('evidence.md')),
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
];

const forbidden = new RegExp(`\\b(?:${Object.keys(PHRASES).join('|')})\\b`, 'giu');

/** A phrase may be broken over two lines of a comment. */
function phrasesIn(text: string): readonly string[] {
  const flat = text.replaceAll(/\s*\n\s*(?:\*|\/\/|#)?\s*/g, ' ');
  return [...flat.matchAll(forbidden)].map(
    ({ 0: phrase, index }) => `${phrase}: …${flat.slice(Math.max(0, index - 40), index + 40)}…`,
  );
}

function filesBelow(folder: string, ...endings: readonly string[]): readonly string[] {
  return readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => endings.some((ending) => file.endsWith(ending)))
    .map((file) => join(folder, file).split(sep).join('/'));
}

describe('the guard', () => {
  test.each([
    ["fail('Nobody leads this queue.')", 1],
    ['/** Whoever looks until somebody leads again. */', 2],
    ['/**\n * The upkeep runs by\n * itself, in the background.\n */', 1],
    ['// It may be tried once more', 1],
    ["output.line('lands at the next look')", 1],
    ['The orchestrator retries it within 5 s.', 0],
    ['const nobodysName = itself;', 0],
  ])('sees %j: %i', (text, count) => {
    expect(phrasesIn(text)).toHaveLength(count);
  });

  test('looks at the sources, the dashboard and the documents', () => {
    const folders = [
      'packages/copse/src/server/',
      'packages/copse/src/intake/',
      'packages/web/src/',
      'docs/guides/',
    ];
    for (const folder of folders) expect(FILES.some((file) => file.startsWith(folder))).toBe(true);
  });
});

test.each(FILES)('%s has no forbidden phrase', (file) => {
  expect(phrasesIn(readFileSync(join(projectRoot, file), 'utf8'))).toEqual([]);
});
