/** A repository with branches that are being worked on, and the radar that looks at them. */

import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { onTestFinished } from 'vitest';

import { openMerging } from '../../../packages/copse/src/queue/merge/open.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import {
  type RadarLook,
  type LookOptions,
  type RadarContext,
  refreshRadar,
} from '../../../packages/copse/src/radar/radar.ts';
import { openRadar } from '../../../packages/copse/src/compose/run/radar.ts';
import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { git } from '../cli.ts';
import { runGit } from '../git/git-shell.ts';
import { type Files, putFiles } from './merging.ts';
import { type Project, openForTest } from '../workspaces/workspaces.ts';

let [scenes, commits] = [0, 0];

export class RadarScene {
  readonly project: Project;
  readonly context: RadarContext;
  /** Pairs of tips that were merged since this was emptied. */
  readonly trials: string[] = [];

  private constructor(project: Project) {
    const { folder, context } = project;
    const repository = { home: folder, commonDir: path.join(folder, '.git') };
    const dir = openTrustedDir(repository);
    const merging = openMerging(dir);
    onTestFinished(() => merging.close());
    this.project = project;
    this.context = {
      ...context,
      merging: {
        trial: (onto, head, method) => {
          this.trials.push(`${onto} ${head}`);
          return merging.trial(onto, head, method);
        },
      },
      radar: openRadar(repository, dir),
    };
  }

  static async open(area: string, files: Files): Promise<RadarScene> {
    scenes += 1;
    const folder = path.join(area, `rädar "${scenes}"`);
    mkdirSync(folder);
    git(folder, 'init', '--quiet', '--initial-branch=main');
    commitIn(folder, files);
    return new RadarScene(await openForTest(folder));
  }

  get folder(): string {
    return this.project.folder;
  }

  /** A task with a worktree, and what is committed in it. */
  async branch(files: Files): Promise<TaskId> {
    const task = await this.project.addTask();
    await this.project.prepare(task);
    if (Object.keys(files).length > 0) this.commit(task, files);
    return task;
  }

  commit(task: TaskId, files: Files): void {
    commitIn(this.project.worktree(task), files);
  }

  commitOnMain(files: Files): void {
    commitIn(this.folder, files);
  }

  async look(options: LookOptions = {}): Promise<RadarLook> {
    const look = await refreshRadar(this.context, options);
    if (look === undefined) throw new Error('Somebody else is looking');
    return look;
  }

  /** What was found about two tasks: apart if nothing was. */
  async between(
    one: TaskId,
    other: TaskId,
  ): Promise<{ readonly kind: string; readonly files?: readonly string[] }> {
    const { sighting } = await this.look();
    const pair = sighting.pairs.find(({ tasks }) => tasks.includes(one) && tasks.includes(other));
    return pair?.verdict ?? { kind: 'apart' };
  }

  /** Whether plain git can merge the two in a checkout. */
  canMerge(one: TaskId, other: TaskId): boolean {
    const tip = (task: TaskId) => git(this.project.worktree(task), 'rev-parse', 'HEAD');
    const desk = path.join(this.folder, '..', `desk ${(scenes += 1)}`);
    git(this.folder, 'worktree', 'add', '--quiet', '--detach', desk, tip(one));
    const argv = ['merge', '--quiet', '--no-ff', '--no-edit', tip(other)];
    return runGit({ cwd: desk, argv }).status === 0;
  }

  objects(): readonly string[] {
    const argv = ['cat-file', '--batch-all-objects', '--batch-check', '--unordered'];
    return git(this.folder, ...argv)
      .split('\n')
      .toSorted();
  }
}

function commitIn(folder: string, files: Files): void {
  putFiles(folder, files);
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--allow-empty', `--message=work ${(commits += 1)}`);
}
