/** All commands as data, for tests that hold for every one of them. */

import { CopseCommand } from '../../packages/copse/src/cli/program/command.ts';
import { createProgram } from '../../packages/copse/src/cli/program/program.ts';
import { openOutput } from '../../packages/copse/src/cli/output.ts';

export function wholeProgram(): CopseCommand {
  const { stdout, stderr } = process;
  return createProgram({
    version: '0.0.0',
    cwd: '/',
    env: {},
    stdin: () => process.stdin,
    output: openOutput({ stdout, stderr }),
    runInside: () => Promise.resolve(0),
  });
}

/** Groups that are commands of their own too. */
const RUN_ALONE: ReadonlySet<string> = new Set(['queue', 'jobs']);

export function isRunnable({ path, command }: { path: string; command: CopseCommand }): boolean {
  return command.commands.length === 0 || RUN_ALONE.has(path);
}

/** Every command that can be run, hidden ones too, with its path. */
export function runnableCommands(): ReadonlyMap<string, CopseCommand> {
  return new Map(
    everyCommand()
      .filter(isRunnable)
      .map(({ path, command }) => [path, command]),
  );
}

/** Groups of commands too. */
export function everyCommand(
  above: CopseCommand = wholeProgram(),
): readonly { readonly path: string; readonly command: CopseCommand }[] {
  return above.commands.flatMap((one) => {
    if (!(one instanceof CopseCommand)) throw new Error(`${one.name()} is not a CopseCommand`);
    return [{ path: one.path(), command: one }, ...everyCommand(one)];
  });
}
