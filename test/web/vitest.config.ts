import path from 'node:path';

import { defineConfig } from 'vitest/config';

/** A real browser at a real server: needs chromium. */
export default defineConfig({
  test: {
    root: path.join(import.meta.dirname, '../..'),
    include: ['test/web/**/*.web.ts'],
    pool: 'forks',
    reporters: ['default', './scripts/summary-reporter.ts'],
    // A browser alone uses both cores of a small machine.
    maxWorkers: 2,
    isolate: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // As long as the browser waits for what a page shows.
    expect: { poll: { timeout: 30_000 } },
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/at-end.ts'],
  },
});
