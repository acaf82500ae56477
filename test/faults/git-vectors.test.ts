/**
 * INVARIANT 26: Copse never runs git with configuration, hooks, attributes, drivers, replace refs or grafts in force that
 * an agent could have written.
 *
 * Every vector × every operation. A vector must first fire in plain git, or change what plain git answers; then no
 * operation of Copse may run the program, and each must answer what it answers in the same repository without the vector.
 * Copse's git directory is made after each was planted, and once before all of them are.
 */

import { existsSync, rmSync } from 'node:fs';

import { expect, it } from 'vitest';

import { openTrustedDir } from '../../packages/copse/src/adapters/git/trusted-dir.ts';
import { newArea } from '../support/cli.ts';
import { operations } from '../support/git-operations.ts';
import {
  type Scene,
  type Vector,
  hookVectors,
  newScenes,
  runPlainly,
  vectors,
} from '../support/git-vectors.ts';

const newScene = newScenes(newArea());
const place = ({ gitDir, top }: Scene) => ({ commonDir: gitDir, home: top });

it.each([...hookVectors, ...vectors].filter(isShown).map(named))('%s works in plain git', (_, vector) => {
  const before = runPlainly(newScene(), vector, {});
  const scene = newScene();
  vector.plant?.(scene);
  const after = runPlainly(scene, vector, vector.env?.(scene) ?? {});
  if (vector.fires) expect([before.hasFired, after.hasFired]).toEqual([false, true]);
  else expect(after.said).not.toBe(before.said);
});

it.each(vectors.map(named))('%s has no effect on what Copse does', async (_, vector) => {
  const scene = newScene();
  vector.plant?.(scene);
  const answers = await withEnvironment(vector.env?.(scene) ?? {}, () => answersIn(scene, vector));
  expect(answers).toEqual(await answersWithout(vector));
});

it('all of them at once have no effect, when they were planted after Copse first looked', async () => {
  const scene = newScene();
  openTrustedDir(place(scene));
  // The hooks are first in the list, and would run when the others are planted.
  for (const vector of vectors.toReversed()) vector.plant?.(scene);
  rmSync(scene.marker, { force: true });
  const all: Vector = { name: 'all', isElsewhere: true };
  expect(await answersIn(scene, all)).toEqual(await answersWithout(all));
});

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
