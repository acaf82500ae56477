/**
 * Questions of hooks to their runner, as files in the worktree: `.copse/asks/<channel>/<id>.ask`, and the answer beside it
 * as `<id>.answer`. The channel is the attempt, because several may work in one folder.
 *
 *   runner: makes the folder, looks, answers each id once → hook: asks, waits, takes both files away → runner: removes all
 *
 * The worktree is the agent's. A link where a folder or a file belongs is not followed, neither to read nor to write
 * (in-folder.ts); more than a megabyte is not read. Every file arrives by a rename, so it is whole.
 *
 * An agent may clean its worktree, these files included. So the runner makes the folder again, and a hook goes on waiting
 * for a moment without it; after that moment nobody is there who would answer. An agent may also answer its own questions:
 * whoever can write here could do without asking.
 */

import { randomBytes } from 'node:crypto';
import { type FSWatcher, mkdirSync, readdirSync, rmSync, rmdirSync, watch } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { writeAtomically } from '../../kernel/system/write-atomically.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import type { Ask, Asks } from '../ports/asks.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { readPlainFile } from '../../kernel/system/plain-file.ts';
import { inFolder } from '../../workspaces/files/in-folder.ts';
import { NotInside } from '../../workspaces/files/inside.ts';

const { mostBytes, most: mostAsks, lookEveryMs, waitEveryMs, noRunnerMs } = defaultPolicy.asks;

export function openAsks(channel: string): Asks {
  if (!/^[\w-]{1,100}$/.test(channel)) throw new Error(`${channel} cannot be the name of a folder for asks.`);
  const names = ['.copse', 'asks', channel];
  return {
    answer: (worktree, answer) => answerAsks(worktree, names, answer),
    ask: (worktree, ask, options) => askAndWait(worktree, names, ask, options),
  };
}

function answerAsks(
  worktree: string,
  names: readonly string[],
  answer: (ask: Ask) => Promise<unknown>,
): { stop(): void } {
  const seen = new Set<string>();
  let isOver = false;
  let bell: FSWatcher | undefined;
  const respond = async (id: string, found: Ask | undefined): Promise<void> => {
    let value: unknown = null;
    try {
      if (found !== undefined) value = (await answer(found)) ?? null;
    } catch {
      // Whoever asked must not wait for an answer that nobody has.
    }
    if (isOver) return;
    const text = rendered(value) ?? 'null';
    attempt(() => inFolder(worktree, names, (folder) => put(folder, `${id}.answer`, text)));
  };
  const look = (): void => {
    if (isOver) return;
    attempt(() => {
      makeFolder(worktree, names);
      inFolder(worktree, names, (folder) => {
        for (const name of readdirSync(folder)) {
          const id = ASK_NAME.exec(name)?.[1];
          if (id === undefined || seen.has(id) || seen.size >= mostAsks) continue;
          seen.add(id);
          void respond(id, parseAsk(read(path.join(folder, name))));
        }
      });
    });
  };
  const listen = (): void => {
    try {
      bell ??= watch(path.join(worktree, ...names), { persistent: false }, look);
      bell.on('error', () => (bell = undefined));
    } catch {
      // There is no folder, or no bell left; the looks are enough.
    }
  };
  const timer = setInterval(look, lookEveryMs);
  timer.unref();
  look();
  listen();
  return {
    stop: () => {
      if (isOver) return;
      isOver = true;
      clearInterval(timer);
      bell?.close();
      attempt(() => removeFolder(worktree, names));
    },
  };
}

const ASK_NAME = /^([\w-]{1,100})\.ask$/;

/** What an agent did to the folder is no reason to end: then nobody is answered, and the next look tries again. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof NotInside) && !isSystemError(error)) throw error;
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

async function askAndWait(
  worktree: string,
  names: readonly string[],
  ask: Ask,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<unknown> {
  const text = rendered(ask);
  if (text === undefined) throw new Error(`A question has more than ${mostBytes} bytes. Shorten it.`);
  const id = `${process.pid}-${randomBytes(8).toString('hex')}`;
  const until = performance.now() + timeoutMs;
  let isAsked = false;
  let lastThere = performance.now();
  try {
    for (;;) {
      let answered: unknown;
      attempt(() =>
        inFolder(worktree, names, (folder) => {
          lastThere = performance.now();
          if (!isAsked) put(folder, `${id}.ask`, text);
          isAsked = true;
          answered = parsed(read(path.join(folder, `${id}.answer`)));
        }),
      );
      if (answered !== undefined) return answered;
      const now = performance.now();
      if (now >= until || now - lastThere >= noRunnerMs) return undefined;
      await sleep(Math.min(waitEveryMs, until - now));
    }
  } finally {
    attempt(() =>
      inFolder(worktree, names, (folder) => {
        for (const kind of ['ask', 'answer']) rmSync(path.join(folder, `${id}.${kind}`), { force: true });
      }),
    );
  }
}

function parseAsk(text: string | undefined): Ask | undefined {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { kind, input } = value as Readonly<Record<string, unknown>>;
  return kind === 'stop' || kind === 'permission' || kind === 'notice' ? { kind, input } : undefined;
}

/** Undefined for what is no JSON. */
function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined when there is no such file, and when there is something else. */
function read(file: string): string | undefined {
  try {
    const found = readPlainFile(file, mostBytes);
    return found.kind === 'plain' && !found.value.isCut ? found.value.text : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** Undefined when nobody would read so much. */
function rendered(value: unknown): string | undefined {
  const text = JSON.stringify(value) ?? 'null';
  return Buffer.byteLength(text) > mostBytes ? undefined : text;
}

function put(folder: string, name: string, text: string): void {
  writeAtomically(path.join(folder, name), text);
}

function makeFolder(worktree: string, names: readonly string[]): void {
  for (let depth = 1; depth <= names.length; depth += 1) {
    inFolder(worktree, names.slice(0, depth - 1), (folder) => {
      try {
        mkdirSync(path.join(folder, names[depth - 1] ?? ''), { mode: 0o700 });
      } catch (error) {
        // A link to nowhere is there, too, and entering it will say so.
        if (!hasCode(error, 'EEXIST')) throw error;
      }
    });
  }
}

/** And the folder around it, when no other attempt has questions there. */
function removeFolder(worktree: string, names: readonly string[]): void {
  inFolder(worktree, names, (folder) => {
    for (const name of readdirSync(folder)) {
      if (/\.(ask|answer|new)$/.test(name)) rmSync(path.join(folder, name), { force: true });
    }
  });
  for (let depth = names.length; depth > 1; depth -= 1) {
    inFolder(worktree, names.slice(0, depth - 1), (folder) =>
      rmdirSync(path.join(folder, names[depth - 1] ?? '')),
    );
  }
}
