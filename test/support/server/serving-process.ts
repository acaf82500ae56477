/** `copse serve` as a process that a test stops, kills and starts again on the same port, from an installation of its own. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { cliFile, nodeFlags, plainEnv } from '../cli.ts';
import { closeAtEnd } from '../close-at-end.ts';

const built = path.dirname(cliFile);

export interface ServingProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly port: string;
  /** For a browser that opens the page, as `openPage` wants it. */
  readonly keys: { newCode(): string };
  kill(): Promise<void>;
}

interface Place {
  readonly cwd: string;
  /** Has the tokens of pages. */
  readonly home: string;
  readonly dist?: string;
  readonly port?: string;
}

export async function startServing({ cwd, home, dist = built, port = '0' }: Place): Promise<ServingProcess> {
  const env = { ...plainEnv, HOME: home };
  const argv = [...nodeFlags, path.join(dist, 'cli.js'), 'serve', '--port', port];
  const child = spawn(process.execPath, argv, { cwd, env });
  closeAtEnd(() => child.kill('SIGKILL'));
  let printed = '';
  const keep = (text: Buffer) => (printed += text.toString());
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  while (!printed.includes('/api/v1/snapshot')) {
    await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
    if (child.exitCode !== null) throw new Error(printed);
  }
  const [, url = '', code = ''] = /board at (\S+)\/api\/v1; [^]*#code=(\S+)/.exec(printed) ?? [];
  return {
    child,
    url,
    port: new URL(url).port,
    keys: { newCode: () => code },
    async kill() {
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A copy of the installed program. */
export function installation(folder: string): string {
  cpSync(built, folder, { recursive: true, filter: (file) => !file.endsWith('.map') });
  return folder;
}

/** As an upgrade does: every file of the dashboard has a new name, and those of before are gone. */
export function renameWebFiles(dist: string): void {
  const assets = path.join(dist, 'web', 'assets');
  const names = readdirSync(assets);
  const renamed = new Map(names.map((name) => [name, name.replace(/(\.\w+)$/, '9$1')]));
  const texts = [...names.map((name) => path.join(assets, name)), path.join(dist, 'web', 'index.html')];
  const known = new RegExp(names.map((name) => name.replaceAll(/[.$+]/g, String.raw`\$&`)).join('|'), 'g');
  for (const file of texts.filter((one) => /\.(js|css|html)$/.test(one)))
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replaceAll(known, (name) => renamed.get(name) ?? name),
    );
  for (const [name, next] of renamed) renameSync(path.join(assets, name), path.join(assets, next));
}

/** Takes away the script of one page, as a broken upgrade does. */
export function removeScriptOf(dist: string, source: string): void {
  const manifest = JSON.parse(
    readFileSync(path.join(dist, 'web', '.vite', 'manifest.json'), 'utf8'),
  ) as Readonly<Record<string, { readonly file: string }>>;
  rmSync(path.join(dist, 'web', manifest[source]?.file ?? source));
}
