/** Tasks that need a person, made by hand in a scene: quicker than by an agent. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { answer, git } from '../cli.ts';
import type { Scene } from './scripted-agents.ts';

async function taken(scene: Scene, title: string) {
  const id = await scene.add(title, 'true');
  const { worktree: cwd } = await answer<{ worktree: string }>(['work', id], scene.at);
  return { id, cwd };
}

export async function stuck(scene: Scene, title: string, question: string): Promise<string> {
  const { id, cwd } = await taken(scene, title);
  await answer(['stuck', '--reason', question], { cwd });
  return id;
}

export async function inReview(scene: Scene, title: string): Promise<string> {
  const { id, cwd } = await taken(scene, title);
  writeFileSync(path.join(cwd, `${id}.txt`), 'x\n');
  git(cwd, 'add', '--all');
  git(cwd, 'commit', '--quiet', '--message=feat: x');
  await answer(['finish'], { cwd });
  return id;
}

export const reviewed = { sections: { landing: { policy: 'review' } } };
