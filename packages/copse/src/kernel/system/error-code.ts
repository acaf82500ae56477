/** Whether the system, or Node.js, failed with one of these: `ENOENT` and the like. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
