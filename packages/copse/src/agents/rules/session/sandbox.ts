/**
 * Which files an agent in a sandbox may write, which it may not even read, and which hosts it may reach.
 *
 * For a commit in a linked worktree git writes the worktree, its folder in `worktrees/`, new objects, the branch and the
 * branch's log. A branch is a file that git replaces, so its folder must be writable, and with it every branch in that folder:
 * a sandboxed task needs a branch folder of its own.
 *
 * Objects go to a store of the attempt's own where folders can be mounted (git/objects/stores/layout.ts). Elsewhere they are
 * shared: then packs and alternates stay read-only.
 *
 * Some files inside the writable folders stay read-only, because git trusts them outside of the sandbox: the repository that
 * a worktree belongs to, and its configuration.
 */

import type { RuntimeName } from '../runtimes.ts';
import type { BranchName, TaskId } from '../../../kernel/ids.ts';
import { unreachable } from '../../../kernel/unreachable.ts';

export type SandboxKind = 'runtime' | 'docker';

/** The folder below `refs/heads` that holds only branches of this task; undefined when there is none. */
export function ownNamespace(branch: BranchName, task: TaskId): string | undefined {
  const folders = branch.split('/').slice(0, -1);
  return folders.includes(task) ? folders.join('/') : undefined;
}

/** Whether every branch of a pattern is in a folder of its task. */
export function hasOwnNamespace(pattern: string): boolean {
  return pattern.split('/').slice(0, -1).includes('{task}');
}

/** Absolute paths with `/`, and no symbolic link in them. */
export interface WorktreePlaces {
  readonly worktree: string;
  /** The worktree's folder in `worktrees/`. */
  readonly gitDir: string;
  /** The repository that all worktrees share. */
  readonly commonDir: string;
  readonly namespace: string;
  /** Whether the repository's own objects are written. */
  readonly sharesObjects: boolean;
}

export interface WriteSet {
  /** Folders with their content, and files. */
  readonly write: readonly string[];
  /** Inside of these, but read-only. */
  readonly keep: readonly string[];
}

export function worktreeWriteSet({
  worktree,
  gitDir,
  commonDir,
  namespace,
  sharesObjects,
}: WorktreePlaces): WriteSet {
  const objects = `${commonDir}/objects`;
  return {
    write: [
      worktree,
      gitDir,
      ...(sharesObjects ? [objects] : []),
      `${commonDir}/refs/heads/${namespace}`,
      `${commonDir}/logs/refs/heads/${namespace}`,
    ],
    keep: [
      `${worktree}/.git`,
      ...['commondir', 'gitdir', 'locked', 'config.worktree'].map((name) => `${gitDir}/${name}`),
      // A commit adds loose objects. Packs and alternates would affect all worktrees.
      ...(sharesObjects ? [`${objects}/pack`, `${objects}/info`] : []),
    ],
  };
}

export interface ProgramFacts {
  readonly runtime: RuntimeName | undefined;
  /** The command line of `command` and `acp`. */
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly home: string;
}

/**
 * Where a vendor's program keeps its conversations. Not its whole folder: that has settings, hooks, plugins and commands too,
 * and code that an agent wrote there would later run outside of the sandbox.
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

/**
 * What an agent cannot read: the board and everything else that Copse keeps, other worktrees, and files that open the remote,
 * the board or another agent's provider. `show` is inside of it and can be read. Missing paths are no mistake.
 */
export function hiddenPlaces(
  facts: ProgramFacts,
  of: {
    /** The folder that has `.copse/`. */
    readonly boardHome: string;
    /** What this attempt has of its own in there. */
    readonly own: readonly string[];
    /** The person's own, which the agent's may differ from. */
    readonly userHome: string;
    /** The person's environment. */
    readonly variables: Readonly<Record<string, string | undefined>>;
    /** The folder of all worktrees, worktrees that are elsewhere, and the folder of checkouts for teardowns. */
    readonly worktrees: readonly string[];
  },
): { readonly hide: readonly string[]; readonly show: readonly string[] } {
  const kept = new Set<string>(keptBy(facts));
  const others = Object.entries(VENDOR_FOLDERS).flatMap(([vendor, folders]) =>
    kept.has(vendor) ? [] : folders,
  );
  const homes = [...new Set([facts.home, of.userHome])];
  const usual = homes.flatMap((home) => [...CREDENTIALS, ...others].map((name) => `${home}/${name}`));
  const copse = `${of.boardHome}/.copse`;
  return {
    hide: [copse, ...of.worktrees, ...usual, ...namedPlaces(of.variables, kept)],
    show: [...of.own, `${copse}/bin`, `${copse}/shared`],
  };
}

const CREDENTIALS = [
  '.ssh',
  '.gnupg',
  '.netrc',
  '.npmrc',
  '.pgpass',
  '.pg_service.conf',
  '.git-credentials',
  '.config/git/credentials',
  '.config/gh',
  '.config/glab-cli',
  '.config/tea',
  '.aws',
  '.azure',
  '.config/gcloud',
  '.kube',
  '.docker',
];

/** Where variables say that the same is. */
function namedPlaces(
  variables: Readonly<Record<string, string | undefined>>,
  kept: ReadonlySet<string>,
): readonly string[] {
  const named = CREDENTIAL_VARIABLES.flatMap((name) => (variables[name] ?? '').split(':'));
  const vendors = Object.entries(VENDOR_VARIABLES).flatMap(([name, vendor]) =>
    kept.has(vendor) ? [] : [variables[name] ?? ''],
  );
  const { XDG_CONFIG_HOME: config, XDG_DATA_HOME: data } = variables;
  const inConfig = CREDENTIALS.filter((name) => name.startsWith('.config/')).map(
    (name) => `${config ?? ''}${name.slice('.config'.length)}`,
  );
  const opencode = kept.has('opencode') ? [] : [`${data ?? ''}/opencode`];
  return [...named, ...vendors, ...(config ? inConfig : []), ...(data ? opencode : [])].filter((place) =>
    place.startsWith('/'),
  );
}

const CREDENTIAL_VARIABLES = [
  'GNUPGHOME',
  'NETRC',
  'NPM_CONFIG_USERCONFIG',
  'npm_config_userconfig',
  'PGPASSFILE',
  'PGSERVICEFILE',
  'GH_CONFIG_DIR',
  'GLAB_CONFIG_DIR',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_CONFIG_FILE',
  'AZURE_CONFIG_DIR',
  'CLOUDSDK_CONFIG',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'KUBECONFIG',
  'DOCKER_CONFIG',
] as const;

const VENDOR_VARIABLES = { CLAUDE_CONFIG_DIR: 'claude', CODEX_HOME: 'codex' } as const;

const VENDOR_FOLDERS = {
  claude: ['.claude', '.claude.json'],
  codex: ['.codex'],
  gemini: ['.gemini'],
  opencode: ['.local/share/opencode'],
} as const;

/** A program that Copse does not know keeps those that its command line names. */
function keptBy({ runtime, command }: ProgramFacts): readonly string[] {
  switch (runtime) {
    case 'claude-sdk':
      return ['claude'];
    case 'claude':
    case 'codex':
    case 'gemini':
    case 'opencode':
      return [runtime satisfies keyof typeof VENDOR_FOLDERS];
    case 'acp':
    case 'command':
    case undefined:
      return Object.keys(VENDOR_FOLDERS).filter((vendor) => command.includes(vendor));
    default:
      return unreachable(runtime);
  }
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
    // A renewed token that cannot be saved is lost, and with it the login.
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
    case 'gemini':
    case 'opencode':
    case 'command':
    case undefined:
      return [];
    default:
      return unreachable(runtime);
  }
}

const VENDOR_HOSTS: Readonly<Record<Vendor, readonly string[]>> = {
  claude: ['api.anthropic.com', 'platform.claude.com', 'console.anthropic.com', 'claude.ai'],
  codex: ['api.openai.com', 'auth.openai.com', 'chatgpt.com'],
};

/**
 * The vendor's hosts, those in variables like ANTHROPIC_BASE_URL, and those that a person allowed. A variable allows a host
 * at its port only: other ports of this machine are other services.
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

/** Parses without the URL class, which rules may not use: scheme, optional user, host, optional port. */
function hostOf(address: string): string | undefined {
  const match = /^(https?):\/\/(?:[^/?#@]*@)?(\[[0-9a-f:.]+\]|[^/?#:@[\]]+)(?::(\d+))?(?=[/?#]|$)/i.exec(
    address,
  );
  if (match === null) return undefined;
  const [, scheme = '', host = '', port] = match;
  return `${host.toLowerCase()}:${port ?? (scheme.toLowerCase() === 'https' ? '443' : '80')}`;
}

/** Programs usually bypass the proxy for these hosts; in a sandbox they must not. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(host);
}
