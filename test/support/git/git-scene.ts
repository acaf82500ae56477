/** The repository in which vectors are planted, with something in it that every one of them acts upon. */

import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { git } from '../cli.ts';

/** One repository, always at the same place, so that its answers can be compared byte for byte. */
export interface Scene {
  readonly top: string;
  readonly gitDir: string;
  readonly worktree: string;
  readonly origin: string;
  readonly elsewhere: string;
  /** A program that leaves the marker. */
  readonly program: string;
  readonly marker: string;
}

/** In a shell, as git's configuration is. */
export const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The scene as it was made, for every vector anew, at the same place. */
export function newScenes(area: string): () => Scene {
  const folder = path.join(area, 'scene');
  const kept = path.join(area, 'kept');
  const scene: Scene = {
    top: path.join(folder, 'top'),
    gitDir: path.join(folder, 'top', '.git'),
    worktree: path.join(folder, 'top', '.worktrees', 'task'),
    origin: path.join(folder, 'origin.git'),
    elsewhere: path.join(folder, 'elsewhere.git'),
    program: path.join(folder, 'program'),
    marker: path.join(folder, 'marker'),
  };
  build(scene);
  renameSync(folder, kept);
  return () => {
    rmSync(folder, { recursive: true, force: true });
    cpSync(kept, folder, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    return scene;
  };
}

function build(scene: Scene): void {
  const { top, worktree, origin, elsewhere } = scene;
  mkdirSync(top, { recursive: true });
  writeFileSync(scene.program, `#!/bin/sh\ntouch ${shell(scene.marker)}\nexit 1\n`, { mode: 0o755 });
  const write = (name: string, text: string) => writeFileSync(path.join(top, name), text);
  const commit = (message: string) => {
    git(top, 'add', '--all');
    git(top, 'commit', '--quiet', `--message=${message}`);
  };
  git(top, 'init', '--quiet', '--template=', '--initial-branch=main');
  mkdirSync(path.join(scene.gitDir, 'info'));
  appendFileSync(path.join(scene.gitDir, 'info', 'exclude'), '.worktrees\n.copse\nignored\n');
  write('.gitattributes', '*.txt filter=evil diff=evil merge=evil\n');
  write('.gitmodules', '[submodule "sub"]\n\tpath = sub\n\turl = ./nowhere\n\tignore = none\n');
  write('code.txt', 'one\ntwo\nthree\n');
  write('notes.md', 'one\ntwo\nthree\n');
  write('tool.sh', 'exit 0\n');
  symlinkSync('code.txt', path.join(top, 'link'));
  commit('first');
  for (const [branch, text] of [
    ['other', 'one\nOTHER\nthree\n'],
    ['ahead', 'one\ntwo\nthree\nfour\n'],
    ['main', 'one\nMAIN\nthree\n'],
  ] as const) {
    git(top, 'checkout', '--quiet', ...(branch === 'main' ? ['main'] : ['-b', branch, 'main']));
    write('code.txt', text);
    write('notes.md', text);
    commit(branch);
  }
  git(top, 'branch', 'alias', 'main');
  git(top, 'branch', 'gone', 'main');
  git(top, 'clone', '--quiet', '--template=', '--bare', top, origin);
  git(top, 'clone', '--quiet', '--template=', '--bare', top, elsewhere);
  git(elsewhere, 'update-ref', 'refs/heads/ahead', 'refs/heads/other');
  git(elsewhere, 'update-ref', 'refs/heads/main', 'refs/heads/other');
  git(top, 'remote', 'add', 'origin', `file://${origin}`);
  git(top, 'update-ref', 'refs/remotes/origin/ahead', 'main');
  git(top, 'update-ref', 'refs/remotes/origin/long-gone', 'main');
  git(top, 'worktree', 'add', '--quiet', '-b', 'task', worktree, 'main~1');
  const sub = path.join(worktree, 'sub');
  git(worktree, 'init', '--quiet', '--template=', sub);
  writeFileSync(path.join(sub, '.gitattributes'), '* filter=evil\n');
  writeFileSync(path.join(sub, 'inner.txt'), 'inner\n');
  git(sub, 'add', '--all');
  git(sub, 'commit', '--quiet', '--message=inner');
  git(worktree, '-c', 'advice.addEmbeddedRepo=false', 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=task');
  writeFileSync(path.join(worktree, 'code.txt'), 'changed\n');
  writeFileSync(path.join(worktree, 'new.md'), 'new\n');
  chmodSync(path.join(worktree, 'tool.sh'), 0o755);
}
