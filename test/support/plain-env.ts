import { tmpdir } from 'node:os';

/** Neither the settings of whoever runs the tests nor what `npm test` and the test runner add. */
export const plainEnv: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  HOME: tmpdir(),
  // What runs by itself afterwards would outlive the folders of a test.
  COPSE_BACKGROUND: '0',
  USER: 'ada',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.invalid',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.invalid',
};
