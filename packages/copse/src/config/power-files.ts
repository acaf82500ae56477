/** Files of a repository that give power over the machine: what they say is run, fetched or copied. Agents can land changes of them. */

/** What each decides, as a person is told. */
export const powerFiles = {
  'copse.yml': 'agents, commands, checks and notifications',
  '.cursor/worktrees.json': 'set-up commands',
  'conductor.json': 'set-up and teardown commands',
  '.conductor/settings.toml': 'whether conductor.json counts',
  '.gitmodules': 'addresses that submodules come from',
  '.worktreeinclude': 'ignored files that agents get',
} as const;

export const powerFileNames = Object.keys(powerFiles) as readonly (keyof typeof powerFiles)[];

/** A script that one of them names decides what that file decides. */
export function decidedBy(name: string): string {
  const known = powerFileNames.find((one) => one === name);
  return powerFiles[known ?? '.cursor/worktrees.json'];
}
