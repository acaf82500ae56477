/** The steps that scripts are made of, and what a request told the model. */

import type { ModelRequest, OfferedTool, Reply, Step, ToolCall, Usage } from './protocol.ts';

/** Says something; with nothing called, the turn is over. */
export function say(text: string): Reply {
  return { text };
}

/** Runs a line in the shell, with whatever tool the program offers for that. */
export function run(command: string): Step {
  return ({ tools }) => ({ calls: [choose(tools, SHELLS, command)] });
}

/** Writes a file that is not there yet: Claude refuses to overwrite what it has not read. */
export function write(path: string, text: string): Step {
  return ({ tools }) => ({ calls: [choose(tools, WRITERS, { path, text })] });
}

/** Calls a tool by its name, or by its name without an MCP server's prefix. */
export function call(tool: string, input: ToolCall['input']): Step {
  return ({ tools }) => {
    const found =
      tools.find(({ name }) => name === tool) ?? tools.find(({ name }) => name.endsWith(`__${tool}`));
    // A name that was not offered is passed on as it is: models do that too.
    return { calls: [{ ...(found && asCalled(found)), tool: found?.name ?? tool, input }] };
  };
}

export interface FailureDetails {
  readonly message?: string;
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An HTTP error. A program that tries again takes the next step. */
export function fail(status: number, { message, retryAfterSeconds, headers }: FailureDetails = {}): Reply {
  const retryAfter = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  return {
    failure: {
      status,
      message: message ?? `scripted failure ${status}`,
      headers: { ...retryAfter, ...headers },
    },
  };
}

/** Begins to answer, then cuts the connection. */
export function drop(step: Step = say('Never said to its end.')): Step {
  return changed(step, { isDropped: true });
}

/** The step, so much later. */
export function after(delayMs: number, step: Step): Step {
  return changed(step, { delayMs });
}

/** The step, at the price of so many tokens. */
export function using(usage: Usage, step: Step): Step {
  return changed(step, { usage });
}

/** Several steps in one answer: their texts one after the other, their calls in parallel. */
export function together(...steps: readonly Step[]): Step {
  return async (request) => {
    const replies = await Promise.all(steps.map((step) => decided(step, request)));
    return {
      text: replies.map(({ text }) => text ?? '').join(''),
      calls: replies.flatMap(({ calls }) => calls ?? []),
    };
  };
}

/** Everything the model is told in a request, its instructions and its own earlier words included. */
export function saidTo(request: ModelRequest): string {
  return texts(request.conversation).join('\n');
}

interface FileText {
  readonly path: string;
  readonly text: string;
}

/** The programs' own names for the tools, and what each takes. */
const SHELLS: Readonly<Record<string, (command: string) => ToolCall['input']>> = {
  // Claude
  Bash: (command) => ({ command, description: 'Scripted command' }),
  // Codex goes on without the command's end after ten seconds unless told otherwise.
  exec_command: (command) => ({ cmd: command, yield_time_ms: 30_000 }),
  // Gemini
  run_shell_command: (command) => ({ command, description: 'Scripted command' }),
  // opencode
  bash: (command) => ({ command, description: 'Scripted command' }),
};

const WRITERS: Readonly<Record<string, (file: FileText) => ToolCall['input']>> = {
  Write: ({ path, text }) => ({ file_path: path, content: text }),
  apply_patch: ({ path, text }) => patchAdding(path, text),
  write_file: ({ path, text }) => ({ file_path: path, content: text }),
  write: ({ path, text }) => ({ filePath: path, content: text }),
};

function choose<T>(
  tools: readonly OfferedTool[],
  table: Readonly<Record<string, (value: T) => ToolCall['input']>>,
  value: T,
): ToolCall {
  for (const [name, input] of Object.entries(table)) {
    const found = tools.find((tool) => tool.name === name);
    if (found) return { ...asCalled(found), tool: name, input: input(value) };
  }
  const offered = tools.map(({ name }) => name).join(', ');
  throw new Error(`The program offers none of ${Object.keys(table).join(', ')}, only: ${offered}`);
}

function asCalled({ namespace }: OfferedTool): Pick<ToolCall, 'namespace'> {
  return namespace === undefined ? {} : { namespace };
}

function patchAdding(path: string, text: string): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const added = lines.map((line) => `+${line}`).join('\n');
  return `*** Begin Patch\n*** Add File: ${path}\n${added}\n*** End Patch\n`;
}

function changed(step: Step, change: Reply): Step {
  return async (request) => ({ ...(await decided(step, request)), ...change });
}

async function decided(step: Step, request: ModelRequest): Promise<Reply> {
  return typeof step === 'function' ? step(request) : step;
}

const NOT_SAID = new Set(['type', 'role', 'id', 'call_id', 'tool_use_id', 'cache_control', 'signature']);

function texts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => (NOT_SAID.has(name) ? [] : texts(inner)));
}
