/**
 * Items that a program prints, one JSON object to a line: `{"id": "7", "title": "Fix login"}`, and if it wants `body`, `url`,
 * `author`, `by`, `closed` and `depends_on`. It prints all that are open, or `[]` if none is; one that it no longer prints counts
 * as closed.
 */

import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { counted, shown } from '../../kernel/text.ts';
import { readPlainFile } from '../../kernel/system/plain-file.ts';
import { withScratchIn } from '../../git/worktrees/place.ts';
import type { Commands } from '../../workspaces/ports/furnishing.ts';
import { fieldsOf, parsed, stringIn } from '../../review/forges/api.ts';
import type { KnownItem, Source, SourceProblem, SourceRead } from '../port.ts';
import { programInRepository, relativeProgram } from '../rules/command.ts';
import type { SeenItem, SourceSettings } from '../rules/source.ts';

export interface CommandOptions {
  readonly settings: SourceSettings;
  readonly command: string;
  readonly timeoutMs: number;
  readonly commands: Commands;
  /** The folder that holds `.copse/`. */
  readonly home: string;
}

export function commandSource(options: CommandOptions): Source {
  /** Of the last look: who asked for an item is on its line. */
  const askedBy = new Map<string, string | null>();
  const read = (known: readonly KnownItem[] = []) =>
    run(options, askedBy, known.filter(({ isClosed }) => !isClosed).length);
  return {
    ...options.settings,
    read,
    async readOne(id) {
      const found = await read();
      return found.kind === 'failed'
        ? found
        : { kind: 'read', item: found.items.find((item) => item.id === id) };
    },
    letIn: async ({ id }) => ({ kind: 'known', by: askedBy.get(id) ?? null }),
  };
}

async function run(
  { settings, command, timeoutMs, commands, home }: CommandOptions,
  askedBy: Map<string, string | null>,
  openItems: number,
): Promise<SourceRead | SourceProblem> {
  const program = programInRepository(command);
  if (program !== null)
    return { kind: 'failed', reason: `The command ${relativeProgram(program)}.`, until: null };
  return withScratchIn(path.join(home, '.copse', 'tmp'), async (scratch) => {
    const printed = path.join(scratch, 'output');
    // Not in the checkout, whose files come from landed work: see rules/command.ts.
    const folder = path.join(scratch, 'run');
    mkdirSync(folder);
    const ran = await commands.run({
      name: `source-${encodeURIComponent(settings.name)}`,
      commands: [`{\n${command}\n} >"$COPSE_SOURCE_OUTPUT"`],
      folder,
      env: { COPSE_SOURCE_OUTPUT: printed, COPSE_SOURCE: settings.name },
      timeoutMs,
      logFolder: scratch,
      leavesNothing: true,
    });
    if (ran.kind === 'failed') {
      const how =
        ran.because === 'timeout' ? `took longer than ${timeoutMs / 1_000} s` : `failed (${ran.code})`;
      // The log begins with the command.
      const output = ran.tail.slice(
        ran.tail.findLastIndex((line) => line.includes('COPSE_SOURCE_OUTPUT')) + 1,
      );
      const said = output.length === 0 ? '.' : `: ${shown(output.join(' '))}`;
      return { kind: 'failed', reason: `The command ${how}${said}`, until: null };
    }
    const most = defaultPolicy.sources.mostOutputBytes;
    const content = readPlainFile(printed, most + 1);
    rmSync(printed, { force: true });
    const text = content.kind === 'plain' ? content.value.text : '';
    if (Buffer.byteLength(text) > most)
      return { kind: 'failed', reason: `The command printed more than ${most} bytes.`, until: null };
    if (text.trim() === '' && openItems > 0)
      return { kind: 'failed', reason: printedNothing(openItems), until: null };
    return readLines(text, askedBy);
  });
}

/** A program that failed and did not say so would close every item. */
function printedNothing(openItems: number): string {
  return `The command printed nothing, and ${counted(openItems, 'item')} would count as closed. If that is right, let it print [].`;
}

/** A line that is no item fails all of it: with half a list, the other half would count as closed. */
function readLines(text: string, askedBy: Map<string, string | null>): SourceRead | SourceProblem {
  const items: SeenItem[] = [];
  askedBy.clear();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.trim() === '[]') continue;
    const item = readItem(parsed(line));
    if (item === undefined) {
      const reason = `Line ${index + 1} is not an item: print {"id": "…", "title": "…"} on one line.`;
      return { kind: 'failed', reason, until: null };
    }
    askedBy.set(item.id, stringIn(parsed(line), 'by') ?? null);
    items.push(item);
  }
  return { kind: 'read', items, notes: [] };
}

function readItem(value: unknown): SeenItem | undefined {
  const fields = fieldsOf(value);
  const id = typeof fields['id'] === 'number' ? String(fields['id']) : stringIn(value, 'id');
  const title = stringIn(value, 'title');
  if (id === undefined || title === undefined) return undefined;
  const { depends_on: first, closed } = fields;
  return {
    id,
    title,
    body: stringIn(value, 'body') ?? '',
    url: stringIn(value, 'url') ?? null,
    author: stringIn(value, 'author') ?? null,
    isClosed: closed === true,
    dependsOn: Array.isArray(first) ? first.map(String) : [],
  };
}
