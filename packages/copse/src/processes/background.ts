import { spawn } from 'node:child_process';

/** Starts a program of Node.js in the background, detached from the terminal. */
export function startBackground(
  argv: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): void {
  const child = spawn(process.execPath, [...argv], { cwd, env, detached: true, stdio: 'ignore' });
  // The next command starts it again.
  child.on('error', () => {});
  child.unref();
}
