/**
 * Opens an address that has a secret in the person's browser.
 *
 * Argument lists can be read by all users of a machine. So the program that opens gets the name of a file, which only this user
 * can read and which leads the browser on. The file is deleted after a moment: browsers read it at once.
 */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { defaultPolicy } from '../kernel/policy.ts';
import { findProgram } from '../kernel/system/find-program.ts';

export type OpenedAddress =
  | { readonly kind: 'opened' }
  | { readonly kind: 'not_opened'; readonly reason: string };

export async function openAddress(
  address: string,
  {
    env,
    folder,
  }: {
    readonly env: Readonly<Record<string, string | undefined>>;
    /** That only this user can read. */
    readonly folder: string | undefined;
  },
): Promise<OpenedAddress> {
  const name = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const program = findProgram(name, env);
  if (program === undefined) return notOpened(`There is no program ${name} here.`);
  if (folder === undefined) return notOpened('There is no private folder for the address.');
  const file = path.join(folder, `open-${randomBytes(9).toString('hex')}.html`);
  try {
    writeFileSync(file, pageTo(address), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    rmSync(file, { force: true });
    return notOpened(`The address could not be written to a file: ${String(error)}.`);
  }
  const { openedMs, openMs } = defaultPolicy.server;
  const remove = () => rmSync(file, { force: true });
  process.once('exit', remove);
  setTimeout(remove, openedMs).unref();
  const code = await new Promise<number | string | null>((resolve) => {
    const child = spawn(program, [pathToFileURL(file).href], { env, stdio: 'ignore', detached: true });
    child.once('error', (error) => resolve(error.message));
    child.once('exit', resolve);
    // Some openers become the browser, and end with it.
    setTimeout(() => resolve(0), openMs).unref();
    child.unref();
  });
  return code === 0
    ? { kind: 'opened' }
    : notOpened(`${name} opened no browser (${code ?? 'it was killed'}).`);
}

function notOpened(reason: string): OpenedAddress {
  return { kind: 'not_opened', reason };
}

/** The address has letters of addresses only, so none ends the attribute. */
function pageTo(address: string): string {
  const written = address.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<!doctype html>\n<meta charset="utf-8">\n<meta name="referrer" content="no-referrer">\n<meta http-equiv="refresh" content="0;url=${written}">\n<title>Copse</title>\n`;
}
