/**
 * What an agent in a sandbox may write and whom it may reach. Reading is not restricted.
 *
 * For a commit in a linked worktree git writes the worktree, its own folder in `worktrees/`, new objects, the branch and
 * the branch's log. A branch is a file that git replaces, so the folder around it has to be writable, and with it every
 * branch in there: a sandbox needs branches in a folder that is the task's alone.
 *
 * Inside what may be written some things are kept as they are, because others believe them: which repository a worktree
 * belongs to, its configuration, and what is packed.
 */

import type { BranchName, TaskId } from '../../../kernel/ids.ts';

export type SandboxKind = 'runtime' | 'docker';

/** The folder below `refs/heads` that has branches of this task and of no other; undefined when there is none. */
export function ownNamespace(branch: BranchName, task: TaskId): string | undefined {
  const folders = branch.split('/').slice(0, -1);
  return folders.includes(task) ? folders.join('/') : undefined;
}

/** Whether every branch that a pattern makes is in a folder of its task. */
export function hasOwnNamespace(pattern: string): boolean {
  return pattern.split('/').slice(0, -1).includes('{task}');
}

/** Absolute paths, with `/` between their parts and no link on the way. */
export interface WorktreePlaces {
  readonly worktree: string;
  /** What git keeps about this worktree. */
  readonly gitDir: string;
  /** What all worktrees share. */
  readonly commonDir: string;
  readonly namespace: string;
}

export interface WriteSet {
  /** Folders with all that is in them, and files. */
  readonly write: readonly string[];
  /** Inside of these, and nevertheless not to be written. */
  readonly keep: readonly string[];
}

export function worktreeWriteSet({ worktree, gitDir, commonDir, namespace }: WorktreePlaces): WriteSet {
  const objects = `${commonDir}/objects`;
  return {
    write: [
      worktree,
      gitDir,
      objects,
      `${commonDir}/refs/heads/${namespace}`,
      `${commonDir}/logs/refs/heads/${namespace}`,
    ],
    keep: [
      `${worktree}/.git`,
      ...['commondir', 'gitdir', 'locked', 'config.worktree'].map((name) => `${gitDir}/${name}`),
      // A commit adds loose objects. Whoever packs, or names other places to look for objects, does it for all.
      `${objects}/pack`,
      `${objects}/info`,
    ],
  };
}

export interface ProgramFacts {
  readonly runtime: string | undefined;
  /** The command line of `command` and `acp`. */
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly home: string;
}

/**
 * Where a vendor's program keeps conversations and the like. Not all of its folder: settings, hooks, plugins and commands
 * are there too, and what an agent wrote into those would run outside of any sandbox the next time.
 */
export function programWriteSet(facts: ProgramFacts): {
  readonly folders: readonly string[];
  readonly files: readonly string[];
} {
  const { environment, home } = facts;
  const places = vendorsOf(facts).map((vendor) => {
    const own = vendor === 'claude' ? environment['CLAUDE_CONFIG_DIR'] : environment['CODEX_HOME'];
    const { folders, files } = PROGRAM_PLACES[vendor];
    return { own: own === undefined || own === '' ? `${home}/.${vendor}` : own, folders, files };
  });
  return {
    folders: places.flatMap(({ own, folders }) => folders.map((name) => `${own}/${name}`)),
    files: places.flatMap(({ own, files }) => files.map((name) => `${own}/${name}`)),
  };
}

type Vendor = 'claude' | 'codex';

const PROGRAM_PLACES: Readonly<
  Record<Vendor, { readonly folders: readonly string[]; readonly files: readonly string[] }>
> = {
  claude: {
    folders: [
      'projects',
      'sessions',
      'session-env',
      'shell-snapshots',
      'file-history',
      'todos',
      'tasks',
      'plans',
      'debug',
      'cache',
    ],
    // A token that was renewed and not saved is lost, and with it the login.
    files: ['.credentials.json', 'history.jsonl'],
  },
  codex: {
    folders: ['sessions', 'archived_sessions', 'log', 'shell_snapshots', 'tmp'],
    files: ['auth.json', 'history.jsonl'],
  },
};

function vendorsOf({ runtime, command }: Pick<ProgramFacts, 'runtime' | 'command'>): readonly Vendor[] {
  switch (runtime) {
    case 'claude':
    case 'claude-sdk':
      return ['claude'];
    case 'codex':
      return ['codex'];
    case 'acp':
      return (['claude', 'codex'] as const).filter((vendor) => command.includes(vendor));
    default:
      return [];
  }
}

const VENDOR_HOSTS: Readonly<Record<Vendor, readonly string[]>> = {
  claude: ['api.anthropic.com', 'platform.claude.com', 'console.anthropic.com', 'claude.ai'],
  codex: ['api.openai.com', 'auth.openai.com', 'chatgpt.com'],
};

/**
 * The vendor's own hosts, those that variables such as ANTHROPIC_BASE_URL name, and those that a person allowed. A host of a
 * variable is allowed at its port only: on this machine, other ports are other things.
 */
export function hostsFor(facts: ProgramFacts, allowed: readonly string[]): readonly string[] {
  const vendors = vendorsOf(facts).flatMap((vendor) => VENDOR_HOSTS[vendor]);
  const named = MODEL_ADDRESSES.flatMap((name) => hostOf(facts.environment[name] ?? '') ?? []);
  return [...new Set([...vendors, ...named, ...allowed])];
}

const MODEL_ADDRESSES = [
  'ANTHROPIC_BASE_URL',
  'ANTHROPIC_BEDROCK_BASE_URL',
  'ANTHROPIC_VERTEX_BASE_URL',
  'AZURE_OPENAI_ENDPOINT',
  'GOOGLE_GEMINI_BASE_URL',
  'OPENAI_API_BASE',
  'OPENAI_BASE_URL',
];

/** Without the URL class, which is not part of the language: scheme, perhaps a user, host, perhaps a port. */
function hostOf(address: string): string | undefined {
  const match = /^(https?):\/\/(?:[^/?#@]*@)?(\[[0-9a-f:.]+\]|[^/?#:@[\]]+)(?::(\d+))?(?=[/?#]|$)/i.exec(
    address,
  );
  if (match === null) return undefined;
  const [, scheme = '', host = '', port] = match;
  return `${host.toLowerCase()}:${port ?? (scheme.toLowerCase() === 'https' ? '443' : '80')}`;
}

/** What is on this machine is reached through the sandbox's proxy too, although programs usually go there directly. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(host);
}
