import { spawn } from 'node:child_process';

/** A program of Node's, on its own from now on: nobody waits for it, and its end of the terminal is closed. */
export function startBackground(
  argv: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): void {
  const child = spawn(process.execPath, [...argv], { cwd, env, detached: true, stdio: 'ignore' });
  // Whatever it would have done is done the next time.
  child.on('error', () => {});
  child.unref();
}
