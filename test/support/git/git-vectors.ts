/**
 * What somebody who can write to a repository, or to the environment Copse is started in, can plant there so that plain
 * git runs a program or gives another answer. Each is first shown to work in plain git.
 */

import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { git, plainEnv } from '../cli.ts';
import { type Scene, shell } from './git-scene.ts';

export interface Vector {
  readonly name: string;
  readonly plant?: (scene: Scene) => void;
  readonly env?: (scene: Scene) => Readonly<Record<string, string>>;
  /** The address of the remote is another one: what a fetch answers is another matter. */
  readonly isElsewhere?: true;
  /** Commands of plain git in the worktree, one of which runs the program … */
  readonly fires?: readonly (readonly string[])[];
  /** … or one that answers differently. */
  readonly shows?: readonly (readonly string[])[];
}

const HIDDEN = 'ab'.repeat(20);

const config =
  (...settings: readonly (readonly [string, string | ((scene: Scene) => string)])[]) =>
  (scene: Scene): void => {
    for (const [name, value] of settings) {
      git(scene.top, 'config', name, typeof value === 'string' ? value : value(scene));
    }
  };

const program = (scene: Scene): string => shell(scene.program);

const hook =
  (name: string, folder?: string) =>
  (scene: Scene): void => {
    const file = path.join(folder ? path.join(scene.top, folder) : path.join(scene.gitDir, 'hooks'), name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `#!/bin/sh\nexec ${shell(scene.program)}\n`, { mode: 0o755 });
  };

const all =
  (...plants: readonly ((scene: Scene) => void)[]) =>
  (scene: Scene): void => {
    for (const plant of plants) plant(scene);
  };

const file =
  (where: (scene: Scene) => string, text: string | ((scene: Scene) => string)) =>
  (scene: Scene): void => {
    mkdirSync(path.dirname(where(scene)), { recursive: true });
    appendFileSync(where(scene), typeof text === 'string' ? text : text(scene));
  };

const inGitDir = (name: string) => (scene: Scene) => path.join(scene.gitDir, name);

const COMMIT = ['commit', '--quiet', '--allow-empty', '--message=x'] as const;
const STATUS = ['status', '--porcelain'] as const;

const hooks: readonly (readonly [string, readonly (readonly string[])[]])[] = [
  ['pre-commit', [COMMIT]],
  ['prepare-commit-msg', [COMMIT]],
  ['commit-msg', [COMMIT]],
  ['post-commit', [COMMIT]],
  ['post-checkout', [['checkout', '--quiet', '--detach']]],
  ['post-merge', [['stash'], ['merge', '--quiet', 'ahead']]],
  ['pre-merge-commit', [['stash'], ['merge', '--quiet', '--no-ff', '--message=m', 'ahead']]],
  ['pre-rebase', [['stash'], ['rebase', '--quiet', 'ahead']]],
  ['post-rewrite', [['commit', '--quiet', '--amend', '--message=y']]],
  ['reference-transaction', [['update-ref', 'refs/heads/new', 'main']]],
  ['post-index-change', [['add', 'code.txt']]],
  ['pre-push', [['push', '--quiet', 'origin', 'task']]],
  ['pre-auto-gc', [['-c', 'gc.auto=1', 'gc', '--auto', '--quiet']]],
];

/** Shown one by one; against Copse, all of them are there at once. */
export const hookVectors: readonly Vector[] = hooks.map(([name, fires]) => ({
  name: `the hook ${name}`,
  // Enough objects for git to think of collecting garbage: it counts the files in this folder.
  plant: all(hook(name), ...['a', 'b'].map((digit) => file(inGitDir(`objects/17/${digit.repeat(38)}`), ''))),
  fires,
}));

const FSMONITOR = (scene: Scene) => `[core]\n\tfsmonitor = "${shell(scene.program)}"\n`;

export const vectors: readonly Vector[] = [
  { name: 'every hook', plant: all(...hooks.map(([name]) => hook(name))) },
  {
    name: 'core.hooksPath',
    plant: all(
      hook('post-checkout', 'mine'),
      config(['core.hooksPath', ({ top }) => path.join(top, 'mine')]),
    ),
    fires: [['checkout', '--quiet', '--detach']],
  },
  { name: 'core.fsmonitor', plant: config(['core.fsmonitor', program]), fires: [STATUS] },
  {
    name: 'an included file',
    plant: all(file(inGitDir('more'), FSMONITOR), config(['include.path', inGitDir('more')])),
    fires: [STATUS],
  },
  {
    name: 'a file included for one folder',
    plant: all(file(inGitDir('more'), FSMONITOR), config(['includeIf.gitdir:/.path', inGitDir('more')])),
    fires: [STATUS],
  },
  {
    name: 'config.worktree',
    plant: all(
      config(['extensions.worktreeConfig', 'true']),
      file(inGitDir('worktrees/task/config.worktree'), FSMONITOR),
    ),
    fires: [STATUS],
  },
  { name: 'a clean filter', plant: config(['filter.evil.clean', program]), fires: [['add', 'code.txt']] },
  {
    name: 'a smudge filter',
    plant: config(['filter.evil.smudge', program]),
    fires: [['checkout', '--force', '--', 'code.txt']],
  },
  {
    name: 'a filter process',
    plant: config(['filter.evil.process', program], ['filter.evil.required', 'true']),
    fires: [['add', 'code.txt']],
  },
  {
    name: 'a filter by info/attributes',
    plant: all(
      config(['filter.other.clean', program]),
      file(inGitDir('info/attributes'), '* filter=other\n'),
    ),
    fires: [['add', 'code.txt']],
  },
  {
    name: 'a filter by core.attributesFile',
    plant: all(
      config(['filter.other.clean', program], ['core.attributesFile', inGitDir('attributes')]),
      file(inGitDir('attributes'), '*.md filter=other\n'),
    ),
    fires: [['add', 'new.md']],
  },
  { name: 'textconv', plant: config(['diff.evil.textconv', program]), fires: [['diff', 'HEAD']] },
  { name: 'a diff driver', plant: config(['diff.evil.command', program]), fires: [['diff', 'HEAD']] },
  { name: 'diff.external', plant: config(['diff.external', program]), fires: [['diff', 'HEAD']] },
  {
    name: 'a merge driver',
    plant: config(['merge.evil.driver', program]),
    fires: [['merge-tree', '--write-tree', 'main', 'other']],
  },
  {
    name: 'merge.default',
    plant: config(['merge.default', 'mine'], ['merge.mine.driver', program]),
    fires: [['merge-tree', '--write-tree', 'main', 'other']],
  },
  {
    name: 'core.sshCommand',
    plant: config(['core.sshCommand', program], ['remote.origin.url', 'ssh://127.0.0.1:1/x']),
    isElsewhere: true,
    fires: [['fetch', 'origin']],
  },
  {
    name: 'core.gitProxy',
    plant: config(['core.gitProxy', ({ program }) => program], ['remote.origin.url', 'git://127.0.0.1:1/x']),
    isElsewhere: true,
    fires: [['fetch', 'origin']],
  },
  {
    name: 'a remote that is a program',
    plant: config(
      ['protocol.ext.allow', 'always'],
      ['remote.origin.url', ({ marker }) => `ext::touch ${marker.replaceAll(' ', '% ')}`],
    ),
    isElsewhere: true,
    fires: [['fetch', 'origin']],
  },
  {
    name: 'remote.uploadpack',
    plant: config(['remote.origin.uploadpack', program]),
    fires: [['fetch', 'origin']],
  },
  {
    name: 'remote.receivepack',
    plant: config(['remote.origin.receivepack', program]),
    fires: [['push', 'origin', ':gone']],
  },
  {
    name: 'a remote for missing objects',
    plant: config(
      ['remote.origin.promisor', 'true'],
      ['extensions.partialClone', 'origin'],
      ['core.repositoryFormatVersion', '1'],
      ['remote.origin.uploadpack', program],
    ),
    fires: [['cat-file', '-e', HIDDEN]],
  },
  {
    name: 'url.insteadOf, which fetches from elsewhere',
    plant: (scene) => git(scene.top, 'config', `url.${scene.elsewhere}.insteadOf`, `file://${scene.origin}`),
    shows: [['ls-remote', 'origin']],
  },
  {
    name: 'url.pushInsteadOf, which pushes to elsewhere',
    plant: (scene) =>
      git(scene.top, 'config', `url.${scene.elsewhere}.pushInsteadOf`, `file://${scene.origin}`),
    shows: [
      ['push', '--quiet', 'origin', ':gone'],
      ['ls-remote', 'origin'],
    ],
  },
  {
    name: 'remote.pushurl',
    plant: config(['remote.origin.pushurl', ({ elsewhere }) => elsewhere]),
    shows: [
      ['push', '--quiet', 'origin', ':gone'],
      ['ls-remote', 'origin'],
    ],
  },
  {
    name: 'a refspec that overwrites a branch',
    plant: config(['remote.origin.fetch', '+refs/heads/ahead:refs/heads/alias']),
    shows: [
      ['fetch', '--quiet', 'origin'],
      ['rev-parse', 'alias'],
    ],
  },
  {
    name: 'remote.prune, which deletes what was fetched',
    plant: config(['remote.origin.prune', 'true']),
    shows: [
      ['fetch', '--quiet', 'origin'],
      ['for-each-ref', 'refs/remotes'],
    ],
  },
  {
    name: 'core.alternateRefsCommand',
    plant: all(
      config(['core.alternateRefsCommand', program]),
      file(inGitDir('objects/info/alternates'), ({ elsewhere }) => `${elsewhere}/objects\n`),
    ),
    fires: [['fetch', 'origin', 'ahead']],
  },
  {
    name: 'credential.helper',
    plant: config(['credential.helper', (scene) => `!${program(scene)}`]),
    fires: [['credential', 'fill']],
  },
  {
    name: 'core.askPass',
    plant: config(['core.askPass', ({ program }) => program]),
    fires: [['credential', 'fill']],
  },
  {
    name: 'gpg.program',
    plant: config(['commit.gpgSign', 'true'], ['gpg.program', ({ program }) => program]),
    fires: [COMMIT],
  },
  { name: 'core.editor', plant: config(['core.editor', program]), fires: [['commit', '--allow-empty']] },
  {
    name: 'sequence.editor',
    plant: config(['sequence.editor', program]),
    fires: [['stash'], ['rebase', '--interactive', 'HEAD~1']],
  },
  {
    name: 'trailer.command',
    plant: config(['trailer.sign.command', program]),
    fires: [['interpret-trailers', '--trailer', 'sign=x']],
  },
  {
    name: 'a command that updates submodules',
    plant: config(
      ['submodule.sub.update', (scene) => `!${program(scene)}`],
      ['submodule.sub.url', 'x'],
      ['submodule.sub.active', 'true'],
    ),
    fires: [['submodule', 'update', '--force']],
  },
  {
    name: 'core.fsmonitor of a repository inside the worktree',
    plant: (scene) => git(path.join(scene.worktree, 'sub'), 'config', 'core.fsmonitor', program(scene)),
    fires: [STATUS],
  },
  {
    name: 'a filter of a repository inside the worktree',
    plant: (scene) => {
      const sub = path.join(scene.worktree, 'sub');
      git(sub, 'config', 'filter.evil.clean', program(scene));
      writeFileSync(path.join(sub, 'inner.txt'), 'other\n');
    },
    fires: [['add', '--all']],
  },
  {
    name: 'a replaced commit',
    plant: (scene) => git(scene.top, 'replace', 'main', 'other'),
    shows: [['log', '-1', '--format=%T', 'main']],
  },
  {
    name: 'a graft',
    plant: (scene) => file(inGitDir('info/grafts'), `${git(scene.top, 'rev-parse', 'main')}\n`)(scene),
    shows: [['rev-list', '--count', 'main']],
  },
  {
    name: 'a history that is said to be shallow',
    plant: (scene) => file(inGitDir('shallow'), `${git(scene.top, 'rev-parse', 'main')}\n`)(scene),
    shows: [['rev-list', '--count', 'main']],
  },
  {
    name: 'a branch that is an alias of another',
    plant: (scene) => git(scene.top, 'symbolic-ref', 'refs/heads/alias', 'refs/heads/main'),
    shows: [
      ['update-ref', 'refs/heads/alias', 'other'],
      ['rev-parse', 'main'],
    ],
  },
  {
    name: 'core.worktree',
    plant: all(
      config(['extensions.worktreeConfig', 'true']),
      file(inGitDir('worktrees/task/config.worktree'), ({ top }) => `[core]\n\tworktree = "${top}"\n`),
    ),
    shows: [['rev-parse', '--show-toplevel']],
  },
  {
    name: 'core.excludesFile, which hides files',
    plant: all(config(['core.excludesFile', inGitDir('ignore')]), file(inGitDir('ignore'), '*\n')),
    shows: [STATUS],
  },
  {
    name: 'core.fileMode, which hides an executable bit',
    plant: config(['core.fileMode', 'false']),
    shows: [['diff', '--raw']],
  },
  {
    name: 'status.showUntrackedFiles, which hides files',
    plant: config(['status.showUntrackedFiles', 'no']),
    shows: [STATUS],
  },
  {
    name: 'a sparse checkout',
    plant: all(
      config(['core.sparseCheckout', 'true']),
      file(inGitDir('worktrees/task/info/sparse-checkout'), '/code.txt\n'),
      file(inGitDir('info/sparse-checkout'), '/code.txt\n'),
    ),
    shows: [
      ['checkout', '--quiet', '--force', 'HEAD'],
      ['ls-files', '-t'],
    ],
  },
  {
    name: 'configuration in the environment',
    env: (scene) => ({
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: program(scene),
    }),
    fires: [STATUS],
  },
  {
    name: 'parameters in the environment',
    env: (scene) => ({ GIT_CONFIG_PARAMETERS: shell(`filter.evil.smudge=${program(scene)}`) }),
    fires: [['checkout', '--force', '--', 'code.txt']],
  },
  {
    name: 'GIT_EXTERNAL_DIFF',
    env: ({ program }) => ({ GIT_EXTERNAL_DIFF: shell(program) }),
    fires: [['diff', 'HEAD']],
  },
  { name: 'GIT_TRACE', env: ({ marker }) => ({ GIT_TRACE: marker }), fires: [STATUS] },
  {
    name: 'GIT_EXEC_PATH',
    plant: ({ top, program }) => {
      for (const name of ['git', 'git-upload-pack', 'git-receive-pack']) {
        file(() => path.join(top, 'core', name), `#!/bin/sh\nexec ${shell(program)}\n`)({ top } as Scene);
        chmodSync(path.join(top, 'core', name), 0o755);
      }
    },
    env: ({ top }) => ({ GIT_EXEC_PATH: path.join(top, 'core') }),
    fires: [['fetch', 'origin']],
  },
  {
    name: 'a search path that begins in the current folder',
    plant: ({ worktree, program }) => {
      const bin = path.join(worktree, 'ignored');
      mkdirSync(bin);
      writeFileSync(path.join(bin, 'git'), `#!/bin/sh\nexec ${shell(program)}\n`, { mode: 0o755 });
    },
    env: () => ({ PATH: `ignored:${process.env['PATH']}` }),
    fires: [STATUS],
  },
  {
    name: 'GIT_SHALLOW_FILE',
    plant: (scene) => file(inGitDir('cut'), `${git(scene.top, 'rev-parse', 'main')}\n`)(scene),
    env: (scene) => ({ GIT_SHALLOW_FILE: inGitDir('cut')(scene) }),
    shows: [['rev-list', '--count', 'main']],
  },
  {
    name: 'GIT_DIR',
    env: ({ elsewhere }) => ({ GIT_DIR: elsewhere }),
    shows: [['rev-parse', 'main']],
  },
  {
    name: 'GIT_OBJECT_DIRECTORY',
    env: ({ top }) => ({ GIT_OBJECT_DIRECTORY: path.join(top, 'none') }),
    shows: [['log', '-1', '--format=%T', 'other']],
  },
  {
    name: 'GIT_NAMESPACE',
    env: () => ({ GIT_NAMESPACE: 'mine' }),
    shows: [['ls-remote', '.']],
  },
  {
    name: 'GIT_INDEX_FILE',
    env: ({ top }) => ({ GIT_INDEX_FILE: path.join(top, 'no-index') }),
    shows: [['ls-files']],
  },
];

/** The vector's commands in plain git: whether the program ran, and what the last one said. */
export function runPlainly(
  scene: Scene,
  vector: Vector,
  env: Readonly<Record<string, string>>,
): { readonly hasFired: boolean; readonly said: string } {
  let said = '';
  for (const argv of vector.fires ?? vector.shows ?? []) {
    try {
      said = execFileSync('git', argv, {
        cwd: scene.worktree,
        env: { ...plainEnv, ...env },
        encoding: 'utf8',
        // Only this one reads; the others may have ended before it is written.
        ...(argv[0] === 'credential' && { input: 'protocol=https\nhost=example.invalid\n\n' }),
        stdio: ['pipe', 'pipe', 'pipe'],
        timeout: 150_000,
      });
    } catch (error) {
      said = String(error);
    }
  }
  return { hasFired: existsSync(scene.marker), said };
}
