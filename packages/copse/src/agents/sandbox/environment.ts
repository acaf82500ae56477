/** The environment of programs in a sandbox. */

import type { SandboxKind } from '../rules/session/sandbox.ts';

type Variables = Readonly<Record<string, string>>;

export function confinedEnvironment(
  variables: Variables,
  { kind, temporary }: { readonly kind: SandboxKind; readonly temporary: string },
): Record<string, string> {
  return {
    ...withGitSettings(variables, [
      // Git's automatic maintenance would write objects that all worktrees share.
      ['gc.auto', '0'],
      ['maintenance.auto', 'false'],
    ]),
    COPSE_SANDBOX: kind,
    // As root, Claude Code refuses some permission modes unless this is set.
    IS_SANDBOX: '1',
    // Claude Code's temporary files.
    CLAUDE_CODE_TMPDIR: temporary,
  };
}

/** Appended to existing GIT_CONFIG settings. */
function withGitSettings(
  environment: Variables,
  settings: readonly (readonly [string, string])[],
): Record<string, string> {
  const first = Number(environment['GIT_CONFIG_COUNT'] ?? '0') || 0;
  const added = settings.flatMap(([key, value], index): readonly (readonly [string, string])[] => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return { ...environment, ...Object.fromEntries(added), GIT_CONFIG_COUNT: String(first + settings.length) };
}
