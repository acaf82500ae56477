/** File access through the client. Copse does not offer it; an agent that asks anyway stays inside its folder. */

import { realpath } from 'node:fs/promises';
import path from 'node:path';

import { readIfThere } from '../../../kernel/system/plain-file.ts';
import { isBeyondLimits } from '../../../kernel/unavailable.ts';
import { number, text } from '../fields.ts';
import { isInside } from './permissions.ts';
import { INVALID, RpcError } from './rpc.ts';

/** Replaces a file below a folder without following links; `file` uses slashes, `scratch` is the folder for the temporary file. */
export type WriteInside = (
  file: { readonly root: string; readonly file: string; readonly scratch: string },
  text: string,
) => Promise<void>;

export async function readForAgent(folder: string, params: unknown): Promise<{ readonly content: string }> {
  const file = await realpath(path.resolve(folder, requirePath(params)));
  if (!isInside(await realpath(folder), file)) throw outside(file);
  const content = readForPrompt(file);
  const line = number(params, 'line');
  const limit = number(params, 'limit');
  if (line === undefined && limit === undefined) return { content };
  const first = Math.max(0, (line ?? 1) - 1);
  const lines = content.split('\n').slice(first, limit === undefined ? undefined : first + limit);
  return { content: lines.join('\n') };
}

function readForPrompt(file: string): string {
  try {
    const content = readIfThere(file);
    if (content !== undefined) return content;
  } catch (error) {
    if (!isBeyondLimits(error)) throw error;
    throw new RpcError(INVALID, error.message);
  }
  throw new RpcError(INVALID, `${file} does not exist.`);
}

export async function writeForAgent(
  folder: string,
  params: unknown,
  writeInside: WriteInside,
): Promise<null> {
  const file = requirePath(params);
  if (!isInside(folder, file)) throw outside(file);
  const relative = path.relative(folder, path.resolve(folder, file)).split(path.sep).join('/');
  // Never git's or Copse's own files.
  if (/^\.(?:git|copse)(?:\/|$)/.test(relative)) throw outside(file);
  await writeInside({ root: folder, file: relative, scratch: '.copse' }, text(params, 'content') ?? '');
  return null;
}

function requirePath(params: unknown): string {
  const file = text(params, 'path');
  if (file === undefined) throw new RpcError(INVALID, 'A path is missing.');
  return file;
}

function outside(file: string): RpcError {
  return new RpcError(INVALID, `${file} is outside of the agent's folder.`);
}
