/**
 * Which conversations Claude Code has kept. Copse chooses their ids before the program starts, so the program may have been
 * killed before it wrote anything, and it forgets old ones by itself. Going on with one that is not there is an error;
 * beginning one that is there is an error too.
 */

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

export function isConversationKept(environment: Readonly<Record<string, string>>, id: string): boolean {
  // In a folder for each folder that somebody worked in; the worktree may have been elsewhere then.
  const projects = path.join(configFolder(environment), 'projects');
  let folders: readonly string[];
  try {
    folders = readdirSync(projects);
  } catch {
    return false;
  }
  return folders.some((folder) => existsSync(path.join(projects, folder, `${id}.jsonl`)));
}

function configFolder({ CLAUDE_CONFIG_DIR, HOME = '' }: Readonly<Record<string, string>>): string {
  // Set to nothing is not set.
  return [CLAUDE_CONFIG_DIR].find(Boolean) ?? path.join(HOME, '.claude');
}
