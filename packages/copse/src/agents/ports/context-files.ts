/** The files that tell an agent what to do, written into a folder that agents can prepare as they like. */

import type { ContextNames } from '../rules/briefing/briefing.ts';
import type { TaskId } from '../../kernel/ids.ts';

export type ContextFile = 'context' | 'facts' | 'prompt' | 'instructions';

/** A file below a folder whose own path nobody but Copse chose. */
export interface ContextPlace {
  readonly root: string;
  readonly file: string;
}

export interface ContextPlaces extends Readonly<Record<ContextFile, ContextPlace>> {
  /** What the agent is told they are called. */
  readonly names: ContextNames;
  /** Sentences about files that are not where they usually are. */
  readonly notes: readonly string[];
}

export interface ContextFiles {
  /**
   * Where each of them may be: in the worktree where git ignores it there, otherwise in the board's own folder. A file that
   * the repository tracks is never one of them. Null: there is no worktree.
   */
  choose(task: TaskId, worktree: string | null): Promise<ContextPlaces>;
  /** Each appears whole or not at all, in place of whatever was there; no link is followed. */
  write(places: ContextPlaces, texts: Readonly<Record<ContextFile, string>>): Promise<void>;
}
