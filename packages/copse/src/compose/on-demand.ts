/** Adapters that single commands need. Each is loaded when its function is called, so that other commands do not pay for it. */

import type { AttemptLogs } from '../agents/ports/logs.ts';
import type { ArtifactRead } from '../agents/ports/runners.ts';
import type { Artifact } from '../tasks/rules/ledger.ts';
import type { GitVersion } from '../git/version.ts';
import type { Beside, Starter } from '../processes/beside.ts';
import type { OpenedAddress } from '../processes/open-address.ts';
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

/** Starts `copse serve` beside this process; it ends with it. */
export async function serveBeside(
  { cwd, env }: Surroundings,
  { isOpened, onLine }: { readonly isOpened: boolean; readonly onLine: (text: string) => void },
): Promise<Beside> {
  const { startBeside } = await import('../processes/beside.ts');
  const { programFile } = await import('./parts.ts');
  return startBeside([programFile('cli'), 'serve', ...(isOpened ? ['--open'] : [])], { cwd, env, onLine });
}

/** The process that started this one so; undefined when a person did. */
export async function starterOf(env: Surroundings['env']): Promise<Starter | undefined> {
  const beside = await import('../processes/beside.ts');
  return beside.starterOf(env);
}

/** In the browser of the person. `folder`: one that only this user can read. */
export async function openAddress(
  address: string,
  place: { readonly env: Surroundings['env']; readonly folder: string | undefined },
): Promise<OpenedAddress> {
  const opening = await import('../processes/open-address.ts');
  return opening.openAddress(address, place);
}

/** Names that agents have without a copse.yml: those of the installed programs, and that of `--command`. */
export async function usualAgents(): Promise<readonly string[]> {
  const { vendorRuntimes } = await import('../agents/rules/runtimes.ts');
  return [...vendorRuntimes, 'command'];
}

/** Attaches to the tmux session of an agent. */
export async function joinTerminal(name: string, { env }: Surroundings): Promise<boolean> {
  const tmux = await import('../processes/tmux.ts');
  return tmux.attachTmux(name, env['TMUX']);
}

/** As git chooses it, but never by the settings of the repository, which agents can write. False when there is none. */
export async function showInPager(text: string, surroundings: Surroundings): Promise<boolean> {
  const { page } = await import('../processes/pager.ts');
  const { env } = surroundings;
  return page(text, env['GIT_PAGER'] ?? (await personalSetting('core.pager', surroundings)) ?? env['PAGER']);
}

/** Of the person's git settings for all repositories. */
async function personalSetting(name: string, surroundings: Surroundings): Promise<string | undefined> {
  const { openTrustedDir } = await import('../git/directory/trusted-dir.ts');
  const identity = await import('../git/identity.ts');
  return identity.personalSetting(openTrustedDir(requireRepository(surroundings)), name);
}

/** Undefined when the person has not chosen one. */
export async function usualDiffTool(surroundings: Surroundings): Promise<string | undefined> {
  return (
    (await personalSetting('diff.tool', surroundings)) ?? (await personalSetting('merge.tool', surroundings))
  );
}

/** Opens two commits in a diff tool that git knows, or that the person's settings name; the exit code. */
export async function openDiffTool(
  { from, to, tool }: { readonly from: string; readonly to: string; readonly tool: string },
  surroundings: Surroundings,
): Promise<number> {
  const { openTrustedDir } = await import('../git/directory/trusted-dir.ts');
  const { gitAtTerminal } = await import('../git/process.ts');
  const { withScratch } = await import('../git/worktrees/place.ts');
  const dir = openTrustedDir(requireRepository(surroundings));
  // In an empty work tree, because git reads attributes of the files that it finds there.
  return withScratch(dir, (scratch) =>
    gitAtTerminal(dir, ['difftool', `--tool=${tool}`, from, to, '--'], scratch),
  );
}

/** Runs another command of copse with the terminal of this process. */
export async function runCopseOnTerminal(
  argv: readonly string[],
  options: { readonly errors: 'on terminal' | 'returned' },
) {
  const terminal = await import('../processes/on-terminal.ts');
  const { programFile } = await import('./parts.ts');
  return terminal.runOnTerminal([process.execPath, programFile('cli'), ...argv], options);
}

export async function restoreTerminal(saved: string): Promise<void> {
  const terminal = await import('../processes/on-terminal.ts');
  await terminal.restoreTerminal(saved);
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
  try {
    return (await git.detectBase()) !== undefined;
  } finally {
    await git.close();
  }
}

/** `file`: relative, as git writes it. */
export async function hasFileInBase(root: string, file: string): Promise<boolean> {
  const { openTrustedDir, openGit } = await import('./workspace-adapters.ts');
  const { defaultPolicy } = await import('../kernel/policy.ts');
  const git = openGit(openTrustedDir(requireRepository({ cwd: root, env: {} })), defaultPolicy);
  try {
    const base = await git.detectBase();
    const tip = base && (await git.tip(`refs/heads/${base}`));
    return tip !== undefined && (await git.files(tip)).some(({ path }) => path.toString() === file);
  } finally {
    await git.close();
  }
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

/** The content of an artifact, if this machine has it and it is unchanged. */
export async function readArtifact(surroundings: Surroundings, artifact: Artifact): Promise<ArtifactRead> {
  const { openArtifacts } = await import('../agents/files/artifacts.ts');
  return openArtifacts(requireRepository(surroundings).home).read(artifact.task, artifact);
}

/** What agents and their runners printed on this machine. */
export async function openLogs(surroundings: Surroundings): Promise<AttemptLogs> {
  const log = await import('../agents/files/attempt-log.ts');
  return log.openLogs(requireRepository(surroundings).home);
}
