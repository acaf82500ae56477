/** Installs the foreign tools where they are missing, and lets them write their clients. */

import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';

import { projectRoot } from '../guards/working-copy.ts';

const here = import.meta.dirname;
export const documentFile = path.join(projectRoot, 'docs/reference/openapi.json');
const generated = path.join(here, 'generated');

/** Neither tool may ask the network for anything. */
const offline = {
  ...process.env,
  NO_COLOR: '1',
  NODE_NO_WARNINGS: '1',
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  DO_NOT_TRACK: '1',
  http_proxy: 'http://127.0.0.1:9',
  https_proxy: 'http://127.0.0.1:9',
};

export interface Ran {
  readonly status: number | null;
  readonly output: string;
}

export function installTools(): void {
  execFileSync(process.execPath, [path.join(projectRoot, 'scripts/install-packages.mjs'), 'test/clients']);
}

export function generateClients(): void {
  rmSync(generated, { recursive: true, force: true });
  must(
    tool(
      'openapi-typescript/bin/cli.js',
      documentFile,
      '--output',
      path.join(generated, 'openapi-typescript.ts'),
    ),
  );
  must(tool('@hey-api/openapi-ts/bin/run.js', '--file', path.join(here, 'hey-api.config.mjs')));
}

/** The document has no fault that the linter knows. */
export function lint(file: string): Ran {
  return tool('@redocly/cli/bin/cli.js', 'lint', file, '--config', path.join(here, 'redocly.yaml'));
}

export function checkTypes(): Ran {
  return run(path.join(projectRoot, 'node_modules/.bin/tsc'), ['--project', here, '--pretty', 'false']);
}

function tool(program: string, ...argv: readonly string[]): Ran {
  return run(process.execPath, [path.join(here, 'node_modules', program), ...argv]);
}

function run(program: string, argv: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(program, argv, { cwd: here, env: offline, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

function must({ status, output }: Ran): void {
  if (status !== 0) throw new Error(output);
}
