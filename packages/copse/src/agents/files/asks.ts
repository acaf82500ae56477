/**
 * Questions of hooks and of other commands to their runner, as files in the worktree: `.copse/asks/<channel>/<id>.ask`, and the answer beside it
 * as `<id>.answer`. The channel names the attempt, because several attempts may work in one folder.
 *
 *   runner: creates the folder, answers each id once → hook: asks, waits, removes both files → runner: removes the folder
 *
 * Agents can write to the worktree. No symbolic link is followed, to read or to write (kernel/system/in-folder.ts), and at most a megabyte
 * is read. Every file arrives by a rename, so it is complete.
 *
 * An agent may clean its worktree, with these files. So the runner creates the folder again, and a hook waits a moment without
 * it; after that moment the runner is gone. An agent may answer its own questions, which gives it nothing: it could also
 * skip the hook.
 */

import { randomBytes } from 'node:crypto';
import { type FSWatcher, mkdirSync, readdirSync, rmSync, rmdirSync, watch } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { writeAtomically } from '../../kernel/system/write-atomically.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import type { Ask, Asks } from '../ports/runtime.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { readPlainFile } from '../../kernel/system/plain-file.ts';
import { NotInside, inFolder } from '../../kernel/system/in-folder.ts';

const { mostBytes, most: mostAsks, lookEveryMs, waitEveryMs, noRunnerMs } = defaultPolicy.asks;

export function openAsks(channel: string): Asks {
  if (!/^[\w-]{1,100}$/.test(channel)) throw new Error(`${channel} is not a valid name for an ask channel.`);
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
  let watcher: FSWatcher | undefined;
  const respond = async (id: string, found: Ask | undefined): Promise<void> => {
    let value: unknown = null;
    try {
      if (found !== undefined) value = (await answer(found)) ?? null;
    } catch {
      // The hook gets null instead of waiting for the timeout.
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
      watcher ??= watch(path.join(worktree, ...names), { persistent: false }, look);
      watcher.on('error', () => (watcher = undefined));
    } catch {
      // No folder, or no watcher left: polling is enough.
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
      watcher?.close();
      attempt(() => removeFolder(worktree, names));
    },
  };
}

const ASK_NAME = /^([\w-]{1,100})\.ask$/;

/** Ignores whatever an agent did to the folder; the next look tries again. */
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
  if (text === undefined) throw new Error(`A question has more than ${mostBytes} bytes.`);
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

const KINDS: readonly Ask['kind'][] = ['stop', 'permission', 'notice', 'command'];

function parseAsk(text: string | undefined): Ask | undefined {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { kind, input } = value as Readonly<Record<string, unknown>>;
  const known = KINDS.find((one) => one === kind);
  return known === undefined ? undefined : { kind: known, input };
}

/** Undefined for text that is not JSON. */
function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined unless it is a plain file of acceptable size. */
function read(file: string): string | undefined {
  try {
    const found = readPlainFile(file, mostBytes);
    return found.kind === 'plain' && !found.value.isCut ? found.value.text : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** Undefined when it is too large to be read. */
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
        // A dangling link exists too; entering it fails.
        if (!hasCode(error, 'EEXIST')) throw error;
      }
    });
  }
}

/** Also removes the folder around it, unless another attempt uses it. */
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
