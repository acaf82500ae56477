/** Adapters that single commands need. Each is loaded when its function is called, so that other commands do not pay for it. */

import type { GitVersion } from '../git/version.ts';
import { type Surroundings, prepareFolder, requireRepository } from './open.ts';

/** Trusts the current addresses of the remotes from now on; returns them without passwords. */
export async function acceptRemotes(surroundings: Surroundings): Promise<ReadonlyMap<string, string>> {
  const { openTrustedDir } = await import('../git/directory/trusted-dir.ts');
  const remote = await import('../git/refs/remote.ts');
  const repository = requireRepository(surroundings);
  prepareFolder(repository);
  const accepted = remote.acceptRemotes(openTrustedDir(repository));
  return new Map([...accepted].map(([name, url]) => [name, remote.withoutPassword(url)]));
}

export async function startBackground(argv: readonly string[], surroundings: Surroundings): Promise<void> {
  const background = await import('../processes/background.ts');
  const { programFile } = await import('./parts.ts');
  background.startBackground([programFile('cli'), ...argv], surroundings);
}

/** Names that agents have without a copse.yml: those of the installed programs, and that of `--command`. */
export async function usualAgents(): Promise<readonly string[]> {
  const { vendorRuntimes } = await import('../agents/runtimes/installed.ts');
  return [...vendorRuntimes, 'command'];
}

/** Attaches to the tmux session of an agent. */
export async function joinTerminal(name: string, { env }: Surroundings): Promise<void> {
  const tmux = await import('../processes/tmux.ts');
  await tmux.attachTmux(name, { isInside: env['TMUX'] !== undefined });
}

/** False when the person has no pager. */
export async function showInPager(text: string, { env }: Surroundings): Promise<boolean> {
  const { page } = await import('../processes/pager.ts');
  return page(text, env['PAGER']);
}

export async function gitVersion(): Promise<GitVersion> {
  const git = await import('../git/version.ts');
  return git.gitVersion();
}

/** Whether there is a branch that worktrees can start from. */
export async function hasBase(surroundings: Surroundings): Promise<boolean> {
  const { openTrustedDir, openGit } = await import('./workspace-adapters.ts');
  const { defaultPolicy } = await import('../kernel/policy.ts');
  const git = openGit(openTrustedDir(requireRepository(surroundings)), defaultPolicy);
  return (await git.detectBase()) !== undefined;
}

/** For `copse undo` of a landed task. */
export async function openReverting(surroundings: Surroundings) {
  const { openTrustedDir } = await import('../git/directory/trusted-dir.ts');
  const revert = await import('../queue/merge/revert.ts');
  return revert.openReverting(openTrustedDir(requireRepository(surroundings)));
}

/** The repository of the demo. */
export async function openNewRepository() {
  return import('../git/directory/new-repository.ts');
}
