/**
 * Which variables of the person's environment an agent gets. Removed is whatever opens something that is not the agent's: the
 * board, the remote, and the providers of other agents. `pass_env` names variables that it gets all the same, but for Copse's
 * own: an agent reaches the board through its runner.
 */

import type { RuntimeName } from '../runtimes.ts';
import { unreachable } from '../../../kernel/unreachable.ts';

export interface AgentProgram {
  readonly runtime: RuntimeName | undefined;
  /** The command line of `command` and `acp`. */
  readonly command: string;
  readonly model: string | undefined;
}

export interface VariablesOptions {
  readonly program: AgentProgram;
  /** Names that a person allows. */
  readonly pass: readonly string[];
  /** The board's address, if it has one. Variables that hold it, or the password in it, are removed. */
  readonly board: string | undefined;
}

type Variables = Readonly<Record<string, string | undefined>>;

export function agentVariables(
  all: Variables,
  { program, pass, board }: VariablesOptions,
): Readonly<Record<string, string>> {
  const passed = new Set(pass);
  const secrets = secretsOf(board);
  const foreign = foreignProviders(program);
  const isKept = (name: string, value: string): boolean => {
    if (name.startsWith('COPSE_') || REPOSITORY.test(name)) return false;
    if (passed.has(name)) return true;
    if (secrets.some((secret) => value.includes(secret))) return false;
    return ![BOARD, REMOTE, ...foreign].some((pattern) => pattern.test(name));
  };
  return Object.fromEntries(
    Object.entries(all).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && isKept(entry[0], entry[1]),
    ),
  );
}

/** They would make git use another repository. */
const REPOSITORY =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|PREFIX|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|CEILING_DIRECTORIES|SHALLOW_FILE|GRAFT_FILE|QUARANTINE_PATH)$/;

/** What PostgreSQL's clients read. */
const BOARD = /^PG(PASSWORD|PASSFILE|SERVICE|SERVICEFILE|SSLKEY|SSLPASSWORD)$/;

const KEY = '(?:KEY|TOKEN|SECRET|PASSWORD|PAT|AUTH|HEADERS|CREDENTIALS)';

/**
 * Git's own variables may name a program that answers for passwords, or settings with a token in them. Those that say who
 * commits, or which files of settings count, stay.
 */
const REMOTE = new RegExp(
  [
    '^GIT_(?!(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)$|(?:SEQUENCE_)?EDITOR$|PAGER$|TERMINAL_PROMPT$|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)$)',
    '^SSH_(?:AUTH_SOCK|AGENT_PID|ASKPASS.*)$',
    `^(?:GH|GITHUB|GITLAB|GL|BITBUCKET|GITEA|FORGEJO|CODEBERG|AZURE_DEVOPS|LINEAR)_(?:.*_)?${KEY}`,
    '^(?:CI_JOB_TOKEN|SYSTEM_ACCESSTOKEN|COPILOT_GITHUB_TOKEN)$',
  ].join('|'),
);

const PROVIDERS = {
  anthropic: new RegExp(`^(?:(?:ANTHROPIC|CLAUDE)_(?:.*_)?${KEY}|AWS_BEARER_TOKEN_BEDROCK$)`),
  openai: new RegExp(`^(?:OPENAI|CODEX|AZURE_OPENAI)_(?:.*_)?${KEY}`),
  google: new RegExp(`^(?:GEMINI|GOOGLE|GOOGLE_GENAI)_API_KEY$`),
  others: new RegExp(
    `^(?:MISTRAL|OPENROUTER|DEEPSEEK|GROQ|XAI|TOGETHER|FIREWORKS|CEREBRAS|COHERE|PERPLEXITY|MOONSHOT|ZAI|DASHSCOPE|CURSOR|AUGMENT)_(?:.*_)?${KEY}`,
  ),
} as const;

type Provider = keyof typeof PROVIDERS;

function foreignProviders(program: AgentProgram): readonly RegExp[] {
  const own = providersOf(program);
  return own === 'any'
    ? []
    : Object.entries(PROVIDERS).flatMap(([name, one]) => (own.has(name) ? [] : [one]));
}

/** A program that Copse does not know is taken to use the providers that its command line names. */
function providersOf({ runtime, command, model }: AgentProgram): ReadonlySet<string> | 'any' {
  switch (runtime) {
    case 'claude':
    case 'claude-sdk':
      return new Set<Provider>(['anthropic']);
    case 'codex':
      return new Set<Provider>(['openai']);
    case 'gemini':
      return new Set<Provider>(['google']);
    case 'opencode':
      // It talks to any provider; its models are called provider/model.
      return model === undefined ? 'any' : named(model.split('/', 1)[0] ?? '', { isOther: true });
    case 'acp':
    case 'command':
    case undefined:
      return /\bopencode\b/.test(command) ? 'any' : named(command, { isOther: false });
    default:
      return unreachable(runtime);
  }
}

function named(words: string, { isOther }: { readonly isOther: boolean }): ReadonlySet<Provider> {
  const found = (Object.keys(NAMES) as (keyof typeof NAMES)[]).filter((name) => NAMES[name].test(words));
  return new Set<Provider>(found.length === 0 && isOther ? ['others'] : found);
}

const NAMES = {
  anthropic: /claude|anthropic/i,
  openai: /codex|openai/i,
  google: /gemini|google/i,
} as const;

/** Short passwords are parts of other words. */
const SHORTEST = 6;

function secretsOf(board: string | undefined): readonly string[] {
  if (!board) return [];
  const [, password = ''] = /^[a-z]+:\/\/[^/?#@:]*:([^/?#@]*)@/i.exec(board) ?? [];
  return [board, password].filter((secret) => secret.length >= SHORTEST);
}
