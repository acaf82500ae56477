/**
 * Files that Claude Code writes in a terminal: its conversation, line by line, and its status. Copse reads both while it works,
 * for the log and the cost.
 */

import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { type Usage, noUsage, usageSince } from '../../../kernel/usage.ts';
import type { RuntimeEvent } from '../../ports/runtime.ts';
import { type Fields, fields, isFields, number, text } from '../fields.ts';
import { type LineReader, readJsonLines } from '../json-lines.ts';
import { readIfThere } from '../../../kernel/system/plain-file.ts';

const LOOK_EVERY_MS = 250;

/** Entries since `sinceMs`: a conversation that continues in another folder copies its past there. */
export class ClaudeRecord {
  readonly #sinceMs: number;
  readonly #on: (entry: Fields) => void;
  readonly #timer: NodeJS.Timeout;
  #file: string | undefined;
  #lines: LineReader | undefined;

  constructor(sinceMs: number, on: (entry: Fields) => void) {
    this.#sinceMs = sinceMs;
    this.#on = on;
    this.#timer = setInterval(() => this.#open(), LOOK_EVERY_MS);
  }

  /** Names the file, which may appear later. */
  isAt(file: string): void {
    this.#file ??= file;
    this.#open();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#open();
    this.#lines?.stop();
  }

  #open(): void {
    if (this.#lines !== undefined || this.#file === undefined || !existsSync(this.#file)) return;
    clearInterval(this.#timer);
    this.#lines = readJsonLines(
      this.#file,
      0,
      (entry) => {
        if (isFields(entry) && Date.parse(text(entry, 'timestamp') ?? '') >= this.#sinceMs) this.#on(entry);
      },
      () => {},
    );
  }
}

/** The entry in the form of the headless program's message. */
export function messageOfEntry(entry: Fields): Fields {
  // Subagents have another mark here.
  return entry['isSidechain'] === true ? { ...entry, parent_tool_use_id: 'subagent' } : entry;
}

/** The failure of a turn in the form of the headless program's result. */
export function failureResult(notice: unknown, entry: Fields | undefined): Fields {
  const words = text(notice, 'last_assistant_message') ?? 'the model failed';
  const [, told] = /\b([45]\d\d)\b/.exec(words) ?? [];
  const status = number(entry, 'apiErrorStatus') ?? (told === undefined ? undefined : Number(told));
  return {
    type: 'result',
    subtype: 'success',
    is_error: true,
    terminal_reason: 'api_error',
    result: words,
    ...(status !== undefined && { api_error_status: status }),
    ...(text(notice, 'error') === 'rate_limit' && { api_error_type: 'rate_limit_error' }),
  };
}

export interface StatusSeen {
  readonly record: string | undefined;
  /** Total cost of the conversation, as counted by the program. */
  readonly dollars: number | null;
}

/** The status line's input: dollars, and how full the context is. */
export class ClaudeStatus {
  readonly #file: string;
  readonly #on: (event: RuntimeEvent) => void;
  readonly #seen: (status: StatusSeen) => void;
  readonly #timer: NodeJS.Timeout;
  #before: Usage;
  #share: number | undefined;
  #changed = 0;

  constructor(
    file: string,
    used: Usage,
    on: (event: RuntimeEvent) => void,
    seen: (status: StatusSeen) => void,
  ) {
    this.#file = file;
    this.#before = { ...noUsage, dollars: used.dollars };
    this.#on = on;
    this.#seen = seen;
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS);
  }

  look(): void {
    const changed = statSync(this.#file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (changed === this.#changed) return;
    this.#changed = changed;
    let status: unknown;
    try {
      status = JSON.parse(readIfThere(this.#file) ?? '');
    } catch {
      return;
    }
    this.#tellDollars(number(fields(status, 'cost'), 'total_cost_usd') ?? null);
    this.#tellContext(fields(status, 'context_window'));
    this.#seen({ record: text(status, 'transcript_path'), dollars: this.#before.dollars });
  }

  stop(): void {
    this.look();
    clearInterval(this.#timer);
  }

  #tellDollars(dollars: number | null): void {
    if (dollars === null) return;
    const total = { ...noUsage, dollars };
    const usage = usageSince(total, this.#before);
    this.#before = total;
    if ((usage.dollars ?? 0) > 0) this.#on({ type: 'usage', usage });
  }

  #tellContext(context: Fields | undefined): void {
    const size = number(context, 'context_window_size') ?? 0;
    const now = fields(context, 'current_usage');
    if (size <= 0 || now === undefined) return;
    const tokens = [
      'input_tokens',
      'output_tokens',
      'cache_creation_input_tokens',
      'cache_read_input_tokens',
    ].map((name) => number(now, name) ?? 0);
    const share = Math.min(1, tokens.reduce((sum, one) => sum + one, 0) / size);
    if (share !== this.#share) this.#on({ type: 'context', share });
    this.#share = share;
  }
}

/**
 * Whether Claude Code has kept a conversation. Copse chooses the id before the program starts: the program may have been killed
 * before it wrote anything, and it deletes old ones. It refuses to resume an unknown id, and to begin a known one.
 */
export function isConversationKept(environment: Readonly<Record<string, string>>, id: string): boolean {
  // One folder for each working directory; the worktree may have been at another path then.
  const projects = path.join(configFolder(environment), 'projects');
  let folders: readonly string[];
  try {
    folders = readdirSync(projects);
  } catch {
    return false;
  }
  return folders.some((folder) => existsSync(path.join(projects, folder, `${id}.jsonl`)));
}

function configFolder({ CLAUDE_CONFIG_DIR, HOME = '' }: Readonly<Record<string, string>>): string {
  // An empty variable counts as unset.
  return [CLAUDE_CONFIG_DIR].find(Boolean) ?? path.join(HOME, '.claude');
}
