/** The variables of programs in a sandbox. */

import type { SandboxKind } from '../rules/session/sandbox.ts';

type Variables = Readonly<Record<string, string>>;

export function confinedEnvironment(
  variables: Variables,
  {
    kind,
    temporary,
    reports,
  }: { readonly kind: SandboxKind; readonly temporary: string; readonly reports: string },
): Record<string, string> {
  const { COPSE_BOARD: _, ...environment } = variables;
  return {
    ...withGitSettings(environment, [
      // What git tidies up by itself is everybody's.
      ['gc.auto', '0'],
      ['maintenance.auto', 'false'],
    ]),
    COPSE_SANDBOX: kind,
    // The board is out of reach.
    COPSE_REPORT_FOLDER: reports,
    // Claude Code does not do everything it is allowed to as root unless it hears that it is confined.
    IS_SANDBOX: '1',
    // Where Claude Code puts its own.
    CLAUDE_CODE_TMPDIR: temporary,
  };
}

/** Behind those that are there already. */
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
