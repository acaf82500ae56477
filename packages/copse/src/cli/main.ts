/** Runs one command and turns its result into output and an exit code. */

import { CommanderError } from 'commander';

import { Unavailable } from '../kernel/unavailable.ts';
import { OperationFailed, type Failure } from '../operations/failure.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-code.ts';
import { type Host, ownProcess } from './host.ts';
import type { Cli } from './invocation.ts';
import { openOutput, reportFailure } from './output.ts';
import type { CopseCommand } from './program/command.ts';
import { createProgram } from './program/program.ts';

export async function main(
  given: readonly string[],
  version: string,
  host: Host = ownProcess(),
): Promise<ExitCode> {
  const { cwd, env, stdin } = host;
  const cli: Cli = {
    version,
    output: openOutput(host),
    cwd,
    env,
    stdin,
    runInside: (other, streams) => main(other, version, { cwd, env, ...streams }),
  };
  // `copse` alone is `copse status`.
  const argv = given.length === 0 ? ['status'] : given;
  const program = createProgram(cli, argv[0]);
  try {
    if (env['COPSE_RUNNER_FOLDER']) {
      const { isForRunner, runThroughRunner } = await import('./through-runner.ts');
      if (isForRunner(argv, env)) return await runThroughRunner(argv, cli);
    }
    if (given.length === 0) {
      const { explainAlone } = await import('./commands/setup/alone.ts');
      if (await explainAlone(cli)) return exitCodes.done;
    }
    if (argv[0] === 'complete') {
      const { answerCompletions } = await import('./completion.ts');
      await answerCompletions(program, cli, argv.slice(argv[1] === '--' ? 2 : 1));
      return exitCodes.done;
    }
    await program.parseAsync([...argv], { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    // Commander throws for --help and --version too.
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    const failure = await explain(error, cli, program, argv);
    reportFailure(failure, { to: host.stderr, asJson: argv.includes('--json') });
    return exitCodeOf(failure.code);
  }
}

async function explain(
  error: unknown,
  cli: Cli,
  program: CopseCommand,
  argv: readonly string[],
): Promise<Failure> {
  if (error instanceof OperationFailed) {
    if (error.failure.task === undefined) return error.failure;
    const { withNextSteps } = await import('./after/refused.ts');
    return withNextSteps(cli, error.failure);
  }
  if (error instanceof Unavailable) {
    return {
      code: error.isMissing ? 'not_found' : 'unavailable',
      reason: error.message,
      next: [error.remedy],
    };
  }
  if (error instanceof CommanderError) {
    const { explainUsage } = await import('./program/usage.ts');
    return explainUsage(error, program, argv);
  }
  const surprise = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    code: 'unexpected',
    reason: `Unexpected error. Please report it.\n${surprise}`,
    next: ['copse doctor'],
  };
}
