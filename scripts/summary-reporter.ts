import type { Reporter, TestModule } from 'vitest/node';

/** Ends a test run with a plain line that people and programs can both read, after the tests that passed only when run again. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const line = [...runAgain(modules), summarise(modules, errors)].join('\n');
    // On exit, so that it comes after the closing lines of the other reporters.
    process.once('exit', () => process.stdout.write(`${line}\n`));
  }
}

function runAgain(modules: readonly TestModule[]): readonly string[] {
  const tests = modules.flatMap((module) => [...module.children.allTests('passed')]);
  return tests
    .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
    .map((test) => `passed only when run again: ${test.module.relativeModuleId} > ${test.fullName}`);
}

function summarise(modules: readonly TestModule[], errors: readonly unknown[]): string {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
  // A file that cannot be loaded has no tests to count, and must not look like a success.
  const brokenFiles = modules.filter(
    (module) => !module.ok() && ![...module.children.allTests('failed')].length,
  );
  const skipped = count('skipped');
  const failed = count('failed') + brokenFiles.length + errors.length;
  return `${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
