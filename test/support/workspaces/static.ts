/** `workspace.strategy: static`, beside the uncommitted files of a person. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'vitest';

import { type Scene, newScene } from '../agents/scripted-agents.ts';

export const never = { dirty: 0, nothing_committed: 0, branch: 0 };

/** A person edits a.txt and has a new file. */
export function newStatic(area: string, policy: Readonly<Record<string, unknown>> = {}): Scene {
  const scene = newScene(area, { agents: { here: { workspace: { strategy: 'static' } } }, policy });
  writeFileSync(path.join(scene.folder, 'a.txt'), 'of a person\n');
  writeFileSync(path.join(scene.folder, 'new.txt'), 'of a person too\n');
  return scene;
}

export const only = (file: string) =>
  `git add ${file}; git commit --quiet --message="feat: ${file}" -- ${file}`;
export const makes = (file: string) => `echo x > ${file}; ${only(file)}`;

/** What the person has uncommitted, as it was. */
export function expectUntouched(scene: Scene, more: readonly string[] = []): void {
  const lines = scene.git('status', '--porcelain').split('\n');
  expect(lines.map((line) => line.trim()).toSorted()).toEqual(['?? new.txt', 'M a.txt', ...more].toSorted());
  expect(readFileSync(path.join(scene.folder, 'a.txt'), 'utf8')).toBe('of a person\n');
  expect(readFileSync(path.join(scene.folder, 'new.txt'), 'utf8')).toBe('of a person too\n');
}
