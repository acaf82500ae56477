/**
 * Called by hooks of agent programs: passes the program's question to the runner and prints the runner's answer unchanged.
 *
 * It never fails, because agent programs read a failing hook as an answer. Without an answer it prints nothing, and the
 * program behaves as without a hook; the runner checks the work again when the program ends.
 */

import { text } from 'node:stream/consumers';

import { runnerAsked } from '../../../compose/inside-attempt.ts';
import type { Ask } from '../../../agents/ports/runtime.ts';
import type { Invocation } from '../../invocation.ts';

interface Options {
  readonly timeout?: string;
}

const USUAL_TIMEOUT_S = 60;

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  try {
    const kind = kinds.find((known) => known === words[0]);
    const runner = runnerAsked(cli.env);
    if (kind === undefined || runner === undefined) return;
    const input = shortened(JSON.parse(await text(cli.stdin())));
    const seconds = Number(options.timeout ?? USUAL_TIMEOUT_S);
    const timeoutMs = (Number.isFinite(seconds) ? seconds : USUAL_TIMEOUT_S) * 1_000;
    const answer = await runner.asks.ask(runner.folder, { kind, input }, { timeoutMs });
    if (answer != null) await cli.output.raw(`${JSON.stringify(answer)}\n`);
  } catch {
    // See above: a hook never fails.
  }
}

const kinds: readonly Ask['kind'][] = ['stop', 'permission', 'notice'];

const LONGEST = 10_000;
const DEEPEST = 20;

/** A question may contain a whole file; the beginning is enough for a person. */
function shortened(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEEPEST) return null;
  if (Array.isArray(value)) return value.map((inner) => shortened(inner, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, shortened(inner, depth + 1)]),
  );
}
