/** Which agent programs this machine has. Searching the PATH is cheap; asking for a version starts the program. */

import { execFile } from 'node:child_process';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { findProgram } from '../../kernel/system/find-program.ts';
import { findClaudeSdk } from './claude-sdk/package.ts';
import { readIfThere } from '../../kernel/system/plain-file.ts';
import { type VendorRuntime, vendorRuntimes } from '../rules/runtimes.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const packages: Readonly<Record<VendorRuntime, string>> = {
  claude: '@anthropic-ai/claude-code',
  codex: '@openai/codex',
  gemini: '@google/gemini-cli',
  opencode: 'opencode-ai',
  'claude-sdk': '@anthropic-ai/claude-agent-sdk',
};

export function installCommand(runtime: VendorRuntime): string {
  return `npm install --global ${packages[runtime]}`;
}

export interface RuntimePlaces {
  readonly env: Environment;
  /** Whether a file is outside of the repository. */
  readonly mayTake: (file: string) => boolean;
}

/** The path of a runtime's program or package; undefined when it is not installed. */
export function findRuntime(runtime: VendorRuntime, { env, mayTake }: RuntimePlaces): string | undefined {
  return runtime === 'claude-sdk'
    ? findClaudeSdk({ environment: env, mayTake })
    : findProgram(runtime, env, mayTake);
}

export interface DetectedRuntime {
  readonly runtime: VendorRuntime;
  readonly place: string | null;
  readonly version: string | null;
  /** Why it does not start. */
  readonly problem: string | null;
  readonly install: string;
}

export async function detectRuntimes(places: RuntimePlaces): Promise<readonly DetectedRuntime[]> {
  return Promise.all(vendorRuntimes.map((runtime) => detect(runtime, places)));
}

async function detect(runtime: VendorRuntime, places: RuntimePlaces): Promise<DetectedRuntime> {
  const place = findRuntime(runtime, places) ?? null;
  const found = { runtime, place, version: null, problem: null, install: installCommand(runtime) };
  if (place === null) return found;
  if (runtime === 'claude-sdk') return { ...found, version: versionOfPackage(place) };
  const said = await askVersion(place, places.env);
  return { ...found, ...said };
}

/** From the package.json beside the file that would be loaded. */
function versionOfPackage(file: string): string | null {
  try {
    const json: unknown = JSON.parse(
      readIfThere(path.join(path.dirname(file), 'package.json'), { isFollowing: true }) ?? '',
    );
    return typeof json === 'object' && json !== null && 'version' in json ? String(json.version) : null;
  } catch {
    return null;
  }
}

const VERSION_TIMEOUT_MS = defaultPolicy.agentPrograms.versionMs;

function askVersion(
  program: string,
  env: Environment,
): Promise<{ readonly version: string | null; readonly problem: string | null }> {
  return new Promise((resolve) => {
    const asked = execFile(
      program,
      ['--version'],
      { env: { ...env }, timeout: VERSION_TIMEOUT_MS, killSignal: 'SIGKILL', encoding: 'utf8' },
      (error, stdout, stderr) => {
        const [, version = null] = /(\d+\.\d+\.\d+\S*)/.exec(stdout) ?? [];
        if (version !== null) return resolve({ version, problem: null });
        const [line = ''] = `${stderr}\n${stdout}`.trim().split('\n');
        const how = error?.killed
          ? 'it does not answer `--version`'
          : `\`--version\` ended with ${error?.code ?? 0}`;
        resolve({ version: null, problem: line === '' ? how : `${how}: ${line}` });
      },
    );
    asked.stdin?.end();
  });
}
