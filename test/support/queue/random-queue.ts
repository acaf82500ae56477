/**
 * A repository with a handful of branches that change the same few files at random: lines, whole files, names, modes, and
 * merges of the target that do more than they say. Everything by plain git.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

import { git, plainEnv } from '../cli.ts';

export interface RandomBranch {
  readonly name: string;
  readonly head: string;
  /** It merged the target, and changed something else in the same commit. */
  readonly isEvil: boolean;
}

interface RandomQueue {
  readonly branches: readonly RandomBranch[];
  readonly main: string;
}

type Draw = () => number;
type Files = Map<string, { readonly mode: string; readonly lines: readonly string[] }>;

const FILES = 5;
const LINES = 14;

export function makeRandomQueue(folder: string, draw: Draw, settings: string): RandomQueue {
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
  const behind = new Set<string>();
  for (let branch = 0; branch < count; branch += 1) {
    const name = `b${branch}`;
    const from = Math.floor(draw() * states.length);
    script.push(`reset refs/heads/${name}\nfrom :${from + 1}\n\n`);
    if (from < later) behind.add(name);
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
  fastImport(folder, script);
  const evil = mergeTarget(folder, names, { behind, draw });
  git(folder, 'reset', '--quiet', '--hard');
  const heads = headsOf(folder);
  const headOf = (name: string) => heads.get(name) ?? '';
  return {
    branches: names.map((name) => ({ name, head: headOf(name), isEvil: evil.has(name) })),
    main: headOf('main'),
  };
}

function fastImport(folder: string, script: readonly string[]): void {
  const made = spawnSync('git', ['fast-import', '--quiet', '--force'], {
    cwd: folder,
    env: plainEnv,
    input: script.join(''),
  });
  if (made.status !== 0) throw new Error(`git fast-import: ${String(made.stderr)}`);
}

function headsOf(folder: string): ReadonlyMap<string, string> {
  const lines = git(folder, 'for-each-ref', '--format=%(refname:lstrip=2) %(objectname)', 'refs/heads');
  return new Map(lines.split('\n').map((line) => line.split(' ') as [string, string]));
}

interface Mergers {
  /** Those that lack something of the target. */
  readonly behind: ReadonlySet<string>;
  readonly draw: Draw;
}

/** Some branches merge the target, where they can, and some of those slip something in: they are the answer. */
function mergeTarget(
  folder: string,
  names: readonly string[],
  { behind, draw }: Mergers,
): ReadonlySet<string> {
  const evil = new Set<string>();
  const script: string[] = [];
  for (const name of names) {
    if (draw() >= 0.2 || !behind.has(name)) continue;
    const merged = spawnSync('git', ['merge-tree', '--write-tree', name, 'main'], {
      cwd: folder,
      env: plainEnv,
      encoding: 'utf8',
    });
    if (merged.status !== 0) continue;
    const ref = `refs/heads/${name}`;
    const parents = `from ${ref}^0\nmerge refs/heads/main\n`;
    script.push(commit(ref, 'merge main', 200), parents, `M 040000 ${merged.stdout.trimEnd()} ""\n`);
    if (draw() >= 0.5) continue;
    evil.add(name);
    script.push(write('file 1.txt', '100644', `${name} took everything away\n`));
  }
  if (script.length > 0) fastImport(folder, script);
  return evil;
}

function commit(ref: string, message: string, second: number, mark?: number): string {
  const who = `Ada <ada@example.invalid> ${1_700_000_000 + second} +0100`;
  const marked = mark === undefined ? '' : `mark :${mark}\n`;
  return `commit ${ref}\n${marked}author ${who}\ncommitter ${who}\ndata ${Buffer.byteLength(message)}\n${message}\n`;
}

function everything(files: Files): readonly string[] {
  return Array.from(files, ([name, { mode, lines }]) => write(name, mode, `${lines.join('\n')}\n`));
}

function write(name: string, mode: string, content: string): string {
  return `M ${mode} inline ${name}\ndata ${Buffer.byteLength(content)}\n${content}\n`;
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
