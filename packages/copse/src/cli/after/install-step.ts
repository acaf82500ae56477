/** Why an agent or a sandbox cannot be used, and the command at the end of it that installs the missing program. */

export function splitInstall(reason: string): { readonly found: string; readonly install: string | null } {
  const [, found, install] =
    /^(.*?)(?:\. Install it)?: ((?:npm|apt|brew) install [^:]+?)\.?$/.exec(reason) ?? [];
  return found === undefined || install === undefined
    ? { found: reason, install: null }
    : { found: `${found}.`, install };
}
