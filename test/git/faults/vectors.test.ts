/**
 * INVARIANT 26: Copse never runs git with configuration, hooks, attributes, drivers, replace refs or grafts in force that
 * an agent could have written.
 *
 * Every vector × every operation. A vector must first fire in plain git, or change what plain git answers; then no
 * operation of Copse may run the program, and each must answer what it answers in the same repository without the vector.
 * Copse's git directory is made after each was planted, and once before all of them are.
 */

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { RefWriter } from '../../../packages/copse/src/git/long-lived.ts';
import { openGit } from '../../../packages/copse/src/git/repository.ts';
import { openRescues } from '../../../packages/copse/src/workspaces/git/rescue/rescues.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { type CommitId, type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { git, newArea } from '../../support/cli.ts';
import { liveIn } from '../../support/git/git-life.ts';
import { operations } from '../../support/git/git-operations.ts';
import { type Scene, newScenes } from '../../support/git/git-scene.ts';
import { isLong, often } from '../../support/long.ts';
import { type Vector, hookVectors, runPlainly, vectors } from '../../support/git/git-vectors.ts';

const newScene = newScenes(newArea());
const place = ({ gitDir, top }: Scene) => ({ commonDir: gitDir, home: top });

/** Says something about git and about these tests, and nothing about Copse. */
it.runIf(isLong).each([...hookVectors, ...vectors].filter(isShown).map(named))(
  '%s works in plain git',
  (_, vector) => {
    const before = plainlyWithout(vector);
    const scene = newScene();
    vector.plant?.(scene);
    const after = runPlainly(scene, vector, vector.env?.(scene) ?? {});
    if (vector.fires) expect([before.hasFired, after.hasFired]).toEqual([false, true]);
    else expect(after.said).not.toBe(before.said);
  },
);

const STRIDE = often({ short: 5, long: 5, variable: 'COPSE_STRIDE' });

// promise: planted-config-inert
// All of them at once, and in groups, are below; a fifth of them is tried alone, and with COPSE_STRIDE=1 each.
it.each(vectors.map(named).filter((_, index) => index % STRIDE === 0))(
  '%s has no effect on what Copse does',
  async (_, vector) => {
    const scene = newScene();
    vector.plant?.(scene);
    const answers = await withEnvironment(vector.env?.(scene) ?? {}, () => answersIn(scene, vector));
    expect(answers).toEqual(await answersWithout(vector));
  },
);

// promise: planted-config-inert
it('all of them at once have no effect, planted after Copse opened the repository', async () => {
  const scene = newScene();
  openTrustedDir(place(scene));
  // The hooks are first in the list, and would run when the others are planted.
  for (const vector of vectors.toReversed()) vector.plant?.(scene);
  rmSync(scene.marker, { force: true });
  const all: Vector = { name: 'all', isElsewhere: true };
  expect(await answersIn(scene, all)).toEqual(await answersWithout(all));
});

/** Neighbours are alike, and of two that are alike one may hide the other: every group has one of each kind. */
const GROUPS = 6;
const groups = Array.from({ length: GROUPS }, (_, group): Vector => ({
  name: `every ${GROUPS}th from ${group + 1}`,
  plant: (scene) => {
    for (const vector of inGroup(group).toReversed()) vector.plant?.(scene);
    rmSync(scene.marker, { force: true });
  },
  env: (scene) => Object.fromEntries(inGroup(group).flatMap(({ env }) => Object.entries(env?.(scene) ?? {}))),
}));

function inGroup(group: number): readonly Vector[] {
  return vectors.filter((_, at) => at % GROUPS === group);
}

// promise: planted-config-inert
it.each(groups.map(named))(
  'a worktree is made, used and removed as usual with vectors planted, %s',
  async (_, group) => {
    const scene = newScene();
    group.plant?.(scene);
    const answers = await withEnvironment(group.env?.(scene) ?? {}, () => lifeIn(scene));
    expect(answers).toEqual(await lifeWithout());
  },
);

const knownPlainly = new Map<string, ReturnType<typeof runPlainly>>();

/** Many vectors show in the same commands. */
function plainlyWithout(vector: Vector): ReturnType<typeof runPlainly> {
  const commands = JSON.stringify(vector.fires ?? vector.shows);
  const known = knownPlainly.get(commands) ?? runPlainly(newScene(), vector, {});
  knownPlainly.set(commands, known);
  return known;
}

async function lifeIn(scene: Scene): Promise<Readonly<Record<string, unknown>>> {
  return liveIn(scene, openTrustedDir(place(scene)), (step) => {
    expect(existsSync(scene.marker), `${step} ran the program`).toBe(false);
  });
}

let knownLife: Promise<Readonly<Record<string, unknown>>> | undefined;

function lifeWithout(): Promise<Readonly<Record<string, unknown>>> {
  knownLife ??= lifeIn(newScene());
  return knownLife;
}

describe('a link among the refs and reflogs', () => {
  const links = [
    ['a reflog', 'logs/refs/heads/linked/branch'],
    ['a folder of reflogs', 'logs/refs/heads/linked'],
    ['a folder of refs', 'refs/heads/linked'],
  ] as const;

  it.each(links)('that is %s makes plain git write elsewhere', (_, at) => {
    const scene = newScene();
    const outside = plantLink(scene, at);
    git(scene.top, 'update-ref', 'refs/heads/linked/branch', 'refs/heads/other');
    expect(everythingBelow(outside)).not.toBe('');
  });

  // promise: no-link-followed
  it.each(links)('that is %s is not followed by Copse, which names it', async (_, at) => {
    const scene = newScene();
    const outside = plantLink(scene, at);
    const dir = openTrustedDir(place(scene));
    const ref = 'refs/heads/linked/branch';
    const tip = brand<CommitId>(git(scene.top, 'rev-parse', 'other'));
    const moves = [
      () => openGit(dir, defaultPolicy).moveRef(ref, null, tip, 'a test'),
      () => new RefWriter(dir).move(ref, null, tip),
    ];
    for (const move of moves) await expect(move()).rejects.toThrow(path.join(scene.gitDir, at));
    expect(everythingBelow(outside)).toBe('');
  });

  // promise: no-link-followed, rescue-failure-blocks
  it('on the way to a rescue blocks it', async () => {
    const scene = newScene();
    const outside = plantLink(scene, 'refs/copse/rescue/cp-task');
    const rescues = openRescues(openTrustedDir(place(scene)));
    const request = { task: brand<TaskId>('cp-task'), worktree: scene.worktree, why: 'asked' } as const;
    await expect(rescues.snapshot({ ...request, at: timestamp(1) })).rejects.toThrow('is a link');
    expect(everythingBelow(outside)).toBe('');
  });
});

/** To an empty file where the reflog itself is one, else to an empty folder. */
function plantLink({ top, gitDir }: Scene, at: string): string {
  const outside = path.join(top, 'ignored', 'outside');
  mkdirSync(path.dirname(outside), { recursive: true });
  if (at.endsWith('branch')) writeFileSync(outside, '');
  else mkdirSync(outside);
  mkdirSync(path.dirname(path.join(gitDir, at)), { recursive: true });
  symlinkSync(outside, path.join(gitDir, at));
  return outside;
}

function everythingBelow(outside: string): string {
  if (lstatSync(outside).isFile()) return readFileSync(outside, 'utf8');
  return readdirSync(outside, { recursive: true, encoding: 'utf8' }).join('\n');
}

function named(vector: Vector): readonly [string, Vector] {
  return [vector.name, vector];
}

/** All but the one that stands for several. */
function isShown({ fires, shows }: Vector): boolean {
  return fires !== undefined || shows !== undefined;
}

async function answersIn(scene: Scene, vector: Vector): Promise<Record<string, unknown>> {
  const answers: [string, unknown][] = [];
  const dir = openTrustedDir(place(scene));
  for (const [name, { run }] of Object.entries(operations)) {
    const answer = await run(dir, scene);
    expect(existsSync(scene.marker), `${name} ran the program`).toBe(false);
    answers.push([name, answer]);
  }
  return comparable(Object.fromEntries(answers), vector);
}

let known: Promise<Record<string, unknown>> | undefined;

async function answersWithout(vector: Vector): Promise<Record<string, unknown>> {
  known ??= answersIn(newScene(), { name: 'none' });
  return comparable(await known, vector);
}

function comparable(answers: Readonly<Record<string, unknown>>, vector: Vector): Record<string, unknown> {
  const kept = Object.entries(answers).filter(
    ([name]) => !(vector.isElsewhere && operations[name]?.reachesRemote),
  );
  return Object.fromEntries(kept);
}

async function withEnvironment<T>(env: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    return await work();
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
    Object.assign(process.env, before);
  }
}
