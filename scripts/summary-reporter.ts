import { writeFileSync } from 'node:fs';

import type { Reporter, TestModule } from 'vitest/node';

/**
 * Ends a test run with a plain line that people and programs can both read. Writes the files with failed tests to the file that
 * COPSE_FAILED names, one a line, for a second run.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const line = summarise(modules, errors);
    const failed = modules.filter((module) => !module.ok()).map((module) => module.relativeModuleId);
    const list = process.env['COPSE_FAILED'];
    if (list !== undefined) writeFileSync(list, failed.map((file) => `${file}\n`).join(''));
    // On exit, so that it comes after the closing lines of the other reporters.
    process.once('exit', () => process.stdout.write(`${line}\n`));
  }
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
