/** The runtimes: what can run an agent. One is added here; the compiler then names the other places. */
export const runtimes = ['claude-sdk', 'claude', 'codex', 'gemini', 'opencode', 'acp', 'command'] as const;
export type RuntimeName = (typeof runtimes)[number];
