/** The runtimes: what can run an agent. One is added here; the compiler then names the other places. */
export const runtimes = ['claude-sdk', 'claude', 'codex', 'gemini', 'opencode', 'acp', 'command'] as const;
export type RuntimeName = (typeof runtimes)[number];

/** Runtimes that need no configuration, in the order in which one is chosen. */
export const vendorRuntimes = [
  'claude',
  'codex',
  'gemini',
  'opencode',
  'claude-sdk',
] as const satisfies readonly RuntimeName[];
export type VendorRuntime = (typeof vendorRuntimes)[number];
