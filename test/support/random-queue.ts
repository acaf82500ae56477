/**
 * A repository with a handful of branches that change the same few files at random: lines, whole files, names, modes, and
 * merges of the target that do more than they say. Everything by plain git.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { git, plainEnv } from './cli.ts';

export interface RandomBranch {
  readonly name: string;
  readonly head: string;
  /** It merged the target, and changed something else in the same commit. */
  readonly isEvil: boolean;
}

type Draw = () => number;
type Files = Map<string, { readonly mode: string; readonly lines: readonly string[] }>;

const FILES = 5;
const LINES = 14;

export function makeRandomQueue(folder: string, draw: Draw, settings: string): readonly RandomBranch[] {
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '--quiet', '--initial-branch=main');
  const base: Files = new Map(
    Array.from({ length: FILES }, (_, file) => [
      file === 0 ? 'deep/down/first.txt' : `file ${file}.txt`,
      { mode: '100644', lines: Array.from({ length: LINES }, (_, line) => `line ${line} of ${file}`) },
    ]),
  );
  base.set('copse.yml', { mode: '100644', lines: settings.split('\n') });
  const script: string[] = [commit('refs/heads/main', 'first', 0, 1), ...everything(base)];
  const later = Math.floor(draw() * 3);
  const states = [base];
  for (let at = 0; at < later; at += 1) {
    const next = edit(states[at] ?? base, draw, `main ${at}`);
    script.push(commit('refs/heads/main', `main ${at}`, at + 1, at + 2), 'deleteall\n', ...everything(next));
    states.push(next);
  }
  const count = 2 + Math.floor(draw() * 5);
  const names: string[] = [];
  for (let branch = 0; branch < count; branch += 1) {
    const name = `b${branch}`;
    const from = Math.floor(draw() * states.length);
    script.push(`reset refs/heads/${name}\nfrom :${from + 1}\n\n`);
    let files = states[from] ?? base;
    const commits = 1 + Math.floor(draw() * 3);
    for (let at = 0; at < commits; at += 1) {
      files = edit(files, draw, `${name} ${at}`);
      script.push(
        commit(`refs/heads/${name}`, `feat: ${name} ${at}`, 100 + at),
        'deleteall\n',
        ...everything(files),
      );
    }
    names.push(name);
  }
  const made = spawnSync('git', ['fast-import', '--quiet', '--force'], {
    cwd: folder,
    env: plainEnv,
    input: script.join(''),
  });
  if (made.status !== 0) throw new Error(`git fast-import: ${String(made.stderr)}`);
  git(folder, 'reset', '--quiet', '--hard');
  return names.map((name) => {
    const isMerged = draw() < 0.2;
    const isEvil = isMerged && mergeTarget(folder, name, draw);
    return { name, head: git(folder, 'rev-parse', `refs/heads/${name}`), isEvil };
  });
}

/** The branch merges the target, where it can, and sometimes slips something in. */
function mergeTarget(folder: string, name: string, draw: Draw): boolean {
  const worktree = `${folder}-merging`;
  git(folder, 'worktree', 'add', '--quiet', worktree, name);
  try {
    const merged = spawnSync('git', ['merge', '--quiet', '--no-ff', '--no-commit', 'main'], {
      cwd: worktree,
      env: plainEnv,
    });
    const isMerging = spawnSync('git', ['rev-parse', '--quiet', '--verify', 'MERGE_HEAD'], { cwd: worktree });
    if (merged.status !== 0 || isMerging.status !== 0) {
      spawnSync('git', ['merge', '--abort'], { cwd: worktree });
      return false;
    }
    const isEvil = draw() < 0.5;
    if (isEvil) {
      writeFileSync(path.join(worktree, 'file 1.txt'), `${name} took everything away\n`);
      git(worktree, 'add', '--all');
    }
    git(worktree, 'commit', '--quiet', '--message=merge main');
    return isEvil;
  } finally {
    git(folder, 'worktree', 'remove', '--force', worktree);
    rmSync(worktree, { recursive: true, force: true });
  }
}

function commit(ref: string, message: string, second: number, mark?: number): string {
  const who = `Ada <ada@example.invalid> ${1_700_000_000 + second} +0100`;
  const marked = mark === undefined ? '' : `mark :${mark}\n`;
  return `commit ${ref}\n${marked}author ${who}\ncommitter ${who}\ndata ${Buffer.byteLength(message)}\n${message}\n`;
}

function everything(files: Files): readonly string[] {
  return Array.from(files, ([name, { mode, lines }]) => {
    const content = `${lines.join('\n')}\n`;
    return `M ${mode} inline ${name}\ndata ${Buffer.byteLength(content)}\n${content}\n`;
  });
}

/** One to three changes; what is added is one of a kind. */
function edit(before: Files, draw: Draw, who: string): Files {
  const files: Files = new Map(before);
  const names = () => [...files.keys()].filter((name) => name !== 'copse.yml').toSorted();
  const changes = 1 + Math.floor(draw() * 3);
  for (let at = 0; at < changes; at += 1) {
    const all = names();
    const name = all[Math.floor(draw() * all.length)];
    const file = name === undefined ? undefined : files.get(name);
    const what = draw();
    const text = `${who} ${at}`;
    if (name === undefined || file === undefined || what < 0.15)
      files.set(`new ${text}.txt`, { mode: '100644', lines: [text, 'added'] });
    else if (what < 0.65) {
      const line = Math.floor(draw() * file.lines.length);
      files.set(name, { ...file, lines: file.lines.with(line, text) });
    } else if (what < 0.8) {
      const line = Math.floor(draw() * (file.lines.length + 1));
      files.set(name, { ...file, lines: file.lines.toSpliced(line, 0, text) });
    } else if (what < 0.87 && file.lines.length > 1) {
      const line = Math.floor(draw() * file.lines.length);
      files.set(name, { ...file, lines: file.lines.toSpliced(line, 1) });
    } else if (what < 0.92) {
      files.delete(name);
      files.set(`moved/${name.replaceAll('/', '-')}`, file);
    } else if (what < 0.96) files.set(name, { ...file, mode: file.mode === '100644' ? '100755' : '100644' });
    else if (all.length > 2) files.delete(name);
  }
  return files;
}
