/** Chooses the places of an agent's context files, and writes them. */

import { readlink } from 'node:fs/promises';
import path from 'node:path';

import type { TaskId } from '../../kernel/ids.ts';
import type { ContextFile, ContextFiles, ContextPlace, ContextPlaces } from '../ports/runners.ts';
import type { FurnishingGit } from '../../workspaces/ports/furnishing.ts';
import { kindOf } from '../../workspaces/files/inside.ts';
import { writeInside } from '../../workspaces/files/write-inside.ts';

export interface ContextFilesSettings {
  readonly git: Pick<FurnishingGit, 'exclude' | 'wouldIgnore'>;
  readonly gitDirOf: (worktree: string) => string | undefined;
  /** Where the board's `.copse/` is. */
  readonly home: string;
}

/** The first usable one is taken. */
const candidates = {
  context: ['AGENT_CONTEXT.md', '.copse/AGENT_CONTEXT.md'],
  facts: ['.copse/session-context.json'],
  prompt: ['.copse/session-prompt.md'],
} as const satisfies Partial<Record<ContextFile, readonly string[]>>;

/** Copse's folder, in a worktree and beside the board. */
const OWN = '.copse';
const REPORT = '.copse/session.json';
const INSTRUCTIONS = 'AGENT_INSTRUCTIONS.md';
const SHARED = `${OWN}/shared`;

export function openContextFiles(settings: ContextFilesSettings): ContextFiles {
  return {
    choose: (task, worktree) => choose(settings, task, worktree),
    async write(places, texts) {
      for (const name of ['instructions', 'facts', 'context', 'prompt'] as const) {
        await writeInside({ ...places[name], scratch: OWN }, texts[name]);
      }
    },
    async place(worktree, name, content) {
      const file = `${OWN}/import/${name}`;
      settings.git.exclude([`/${OWN}/`]);
      await writeInside({ root: worktree, file, scratch: OWN }, content);
      return file;
    },
  };
}

async function choose(
  settings: ContextFilesSettings,
  task: TaskId,
  worktree: string | null,
): Promise<ContextPlaces> {
  const usable = worktree === null ? new Set<string>() : await usableIn(settings, worktree);
  const notes: string[] = [];
  const place = (name: keyof typeof candidates): ContextPlace => {
    const [usual] = candidates[name];
    const file = candidates[name].find((candidate) => usable.has(candidate));
    const at =
      worktree !== null && file !== undefined
        ? { root: worktree, file }
        : { root: settings.home, file: `${OWN}/context/${task}/${path.posix.basename(usual)}` };
    if (worktree !== null && file !== usual) {
      notes.push(`${usual} cannot be written in this worktree; it is at ${nameOf(at, worktree)}.`);
    }
    return at;
  };
  const [context, facts, prompt] = [place('context'), place('facts'), place('prompt')];
  const instructions = { root: settings.home, file: `${SHARED}/${INSTRUCTIONS}` };
  const isLinked = worktree !== null && (await linksTo(path.join(worktree, SHARED), settings.home));
  return {
    context,
    facts,
    prompt,
    instructions,
    names: {
      context: nameOf(context, worktree),
      facts: nameOf(facts, worktree),
      prompt: nameOf(prompt, worktree),
      instructions: isLinked ? instructions.file : nameOf(instructions, worktree),
      report: usable.has(REPORT) ? REPORT : null,
    },
    notes,
  };
}

/** Paths that git ignores and does not track, and that a new file can replace. */
async function usableIn(
  { git, gitDirOf }: ContextFilesSettings,
  worktree: string,
): Promise<ReadonlySet<string>> {
  const gitDir = gitDirOf(worktree);
  if (gitDir === undefined) throw new Error(`${worktree} is not a worktree that git knows`);
  // Files are written there first and then renamed: without this folder nothing can be written into the worktree.
  if (!['folder', 'nothing'].includes(await kindOf(path.join(worktree, OWN)))) return new Set();
  git.exclude(['/AGENT_CONTEXT.md', `/${OWN}/`]);
  const wanted = [...Object.values(candidates).flat(), REPORT];
  const ignored = await git.wouldIgnore({ folder: worktree, gitDir }, wanted);
  const usable = new Set<string>();
  for (const file of wanted) {
    if (ignored.has(file) && (await kindOf(path.join(worktree, file))) !== 'folder') usable.add(file);
  }
  return usable;
}

function nameOf({ root, file }: ContextPlace, worktree: string | null): string {
  return root === worktree ? file : path.join(root, file);
}

async function linksTo(link: string, home: string): Promise<boolean> {
  return (await kindOf(link)) === 'link' && (await readlink(link)) === path.join(home, SHARED);
}
