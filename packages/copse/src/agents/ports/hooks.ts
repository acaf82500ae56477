/** What hooks around an attempt need from outside: programs of a person, and addresses that a person chose. */

import type { AgentName, AttemptId } from '../../kernel/ids.ts';
import type { Commands } from '../../workspaces/ports/furnishing.ts';

export interface Hooks {
  commandsOf(agent: AgentName, attempt: AttemptId): Promise<HookCommands>;
  /** Posts JSON once, and never a second time. Null: it was taken; otherwise why not, without the secret part of the address. */
  post(address: string, body: string, timeoutMs: number): Promise<string | null>;
}

/** In the sandbox of the agent, if it has one. */
export interface HookCommands extends Commands {
  /** What the agent's processes inherit. */
  readonly environment: Readonly<Record<string, string>>;
  readonly isConfined: boolean;
  /** With an empty folder that is deleted afterwards. */
  inScratch<T>(work: (folder: string) => Promise<T>): Promise<T>;
  close(): void;
}
