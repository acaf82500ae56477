/**
 * The installed agent programs: where they are, and surroundings in which they talk to the scripted model server and
 * to no other host.
 */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { plainEnv } from '../../support/cli.ts';

export type ProgramName = 'claude' | 'codex' | 'claude-acp' | 'codex-acp' | 'gemini' | 'opencode';

const here = fileURLToPath(new URL('.', import.meta.url));
const modules = path.join(here, 'node_modules');
const moreModules = path.join(here, 'more', 'node_modules');

/** The beginning of a command line. */
export function commandOf(name: ProgramName): readonly [string, ...string[]] {
  return COMMANDS[name]();
}

/** Gemini and opencode are installed only when asked for. */
export function isInstalled(name: ProgramName): boolean {
  try {
    return commandOf(name).every((part) => existsSync(part));
  } catch {
    return false;
  }
}

/**
 * A home for one session's programs. Not in the folder for temporary files: Codex lets commands write there, and
 * gives up its sandbox when its own folder is inside it.
 */
export function newHome(): string {
  const isTemporary = !path.relative(realpathSync(tmpdir()), realpathSync(modules)).startsWith('..');
  const homes = isTemporary ? path.join(homedir(), '.cache', 'copse-tests') : path.join(modules, '.homes');
  mkdirSync(homes, { recursive: true });
  return mkdtempSync(path.join(homes, 'home-'));
}

export function removeHome(home: string): void {
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/**
 * Environment for a program; what it takes only from a file is written into the home. The model server is its proxy
 * too, and refuses: an address beyond loopback is not reached, and is noted.
 */
export function environmentFor(name: ProgramName, url: string, home: string): Record<string, string> {
  const shared = { ...plainEnv, HOME: home, SHELL: '/bin/sh', NO_COLOR: '1', TERM: 'xterm-256color' };
  return { ...shared, ...proxyEnvironment(url), ...ENVIRONMENTS[name](url, home) };
}

/** The Claude Agent SDK, as much of it as tests use; its own types are there only where it is installed. */
export interface ClaudeSdk {
  readonly query: (question: {
    readonly prompt: string;
    readonly options: Readonly<Record<string, unknown>>;
  }) => AsyncIterable<Readonly<Record<string, unknown>>>;
}

export async function loadClaudeSdk(): Promise<ClaudeSdk> {
  const file = inModules('@anthropic-ai/claude-agent-sdk/sdk.mjs');
  return (await import(pathToFileURL(file).href)) as ClaudeSdk;
}

const COMMANDS: Readonly<Record<ProgramName, () => readonly [string, ...string[]]>> = {
  claude: () => [claudeBinary()],
  codex: () => [codexBinary()],
  'claude-acp': () => [process.execPath, inModules('@agentclientprotocol/claude-agent-acp/dist/index.js')],
  'codex-acp': () => [process.execPath, inModules('@agentclientprotocol/codex-acp/dist/index.js')],
  gemini: () => [process.execPath, inMore('@google/gemini-cli/bundle/gemini.js')],
  opencode: () => [inMore(`opencode-${process.platform}-${process.arch}/bin/opencode`)],
};

const ENVIRONMENTS: Readonly<
  Record<ProgramName, (url: string, home: string) => Readonly<Record<string, string>>>
> = {
  claude: claudeEnvironment,
  codex: codexEnvironment,
  'claude-acp': claudeEnvironment,
  'codex-acp': (url, home) => ({ ...codexEnvironment(url, home), CODEX_PATH: codexBinary() }),
  gemini: geminiEnvironment,
  opencode: opencodeEnvironment,
};

function proxyEnvironment(url: string): Record<string, string> {
  const proxy = new URL(url).origin;
  const beside = '127.0.0.1,localhost';
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    NO_PROXY: beside,
    http_proxy: proxy,
    https_proxy: proxy,
    no_proxy: beside,
  };
}

function claudeEnvironment(url: string, home: string): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'sk-ant-scripted',
    CLAUDE_CONFIG_DIR: path.join(home, 'claude'),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
  };
}

function codexEnvironment(url: string, home: string): Record<string, string> {
  const folder = path.join(home, 'codex');
  mkdirSync(folder, { recursive: true });
  const config = [
    'model = "gpt-5.5"',
    'model_provider = "scripted"',
    'check_for_update_on_startup = false',
    '[analytics]',
    'enabled = false',
    '[features]',
    'plugins = false',
    'apps = false',
    '[model_providers.scripted]',
    'name = "scripted"',
    `base_url = ${JSON.stringify(`${url}/v1`)}`,
    'env_key = "SCRIPTED_API_KEY"',
    'wire_api = "responses"',
    'supports_websockets = false',
    // It does not wait long for a server that fails.
    'request_max_retries = 1',
    'stream_max_retries = 1',
  ];
  writeFileSync(path.join(folder, 'config.toml'), `${config.join('\n')}\n`);
  return { CODEX_HOME: folder, SCRIPTED_API_KEY: 'scripted' };
}

function geminiEnvironment(url: string, home: string): Record<string, string> {
  const folder = path.join(home, '.gemini');
  mkdirSync(folder, { recursive: true });
  const settings = {
    general: { disableAutoUpdate: true, disableUpdateNag: true },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    security: { auth: { selectedType: 'gemini-api-key' } },
  };
  writeFileSync(path.join(folder, 'settings.json'), JSON.stringify(settings));
  return {
    GEMINI_API_KEY: 'scripted',
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    // Else it asks a model which model to ask, and does not believe the answer.
    GEMINI_MODEL: 'gemini-2.5-pro',
    // Else it starts itself a second time, with more memory.
    GEMINI_CLI_NO_RELAUNCH: 'true',
  };
}

function opencodeEnvironment(url: string): Record<string, string> {
  const config = {
    autoupdate: false,
    share: 'disabled',
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    provider: {
      scripted: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Scripted',
        options: { baseURL: `${url}/v1`, apiKey: 'scripted' },
        models: { scripted: { name: 'Scripted', limit: { context: 100_000, output: 10_000 } } },
      },
    },
  };
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  };
}

/** The SDK carries the same program, byte for byte, that the command line's own package installs. */
function claudeBinary(): string {
  return inModules(`@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`);
}

function codexBinary(): string {
  const vendor = inModules(`@openai/codex-${process.platform}-${process.arch}/vendor`);
  const [target] = readdirSync(vendor);
  if (target === undefined) throw new Error(`No program in ${vendor}: install test/agents/real again`);
  return path.join(vendor, target, 'bin', 'codex');
}

function inModules(file: string): string {
  return path.join(modules, file);
}

function inMore(file: string): string {
  return path.join(moreModules, file);
}
