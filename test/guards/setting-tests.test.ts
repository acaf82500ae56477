import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { describeConfig } from '../../packages/copse/src/config/problems/describe.ts';
import { readTags } from '../../scripts/generate-evidence.ts';
import {
  SETTING_TESTS,
  generateSettingTests,
  settingKeys,
  settingTestsFrom,
} from '../../scripts/generate-setting-tests.ts';
import { projectRoot } from './working-copy.ts';

/** Keys without a tagged test so far. The list may only become shorter: a key that has a test is an error here. */
const pending: readonly string[] = [
  'agents.<name>.runtime',
  'agents.<name>.workspace.create_pr',
  'agents.<name>.workspace.share_work',
  'agents.<name>.landing.on_conflict',
  'agents.<name>.limits.tokens',
  'agents.<name>.limits.dollars',
  'agents.<name>.sandbox_write',
  'agents.<name>.sandbox_read',
  'agents.<name>.hooks.before_run.timeout',
  'agents.<name>.hooks.after_run.timeout',
  'agents.<name>.hooks.on_error.timeout',
  'agents.<name>.docker.enabled',
  'agents.<name>.docker.env',
  'workspace.cleanup_on_failure',
  'workspace.share_work',
  'landing.sandbox_hosts',
  'landing.sandbox_write',
  'landing.pass_env',
  'landing.slots',
  'policy.max_retries',
  'policy.poll_interval',
  'policy.lease',
  'policy.lease_renewal',
  'policy.first_backoff',
  'policy.max_backoff',
  'policy.drain_within',
  'policy.context_handoff',
  'policy.snapshot_every',
  'policy.handbacks.conflict',
  'policy.handbacks.no_artifact',
  'policy.handbacks.not_imported',
  'policy.handbacks.unfit',
  'maintenance.worktree_cleanup.max_abandoned_age',
  'notifications.repeat_interval',
  'sources.<name>.status_comments',
  'sources.<name>.timeout',
];

describe('the keys of copse.yml', () => {
  const { page, problems } = generateSettingTests(projectRoot);
  const missing = (key: string) => `No test has the tag "setting: ${key}".`;

  test('each have a test that shows their effect, and each tag of a test names one of them', () => {
    expect(problems).toEqual(expect.arrayContaining(pending.map(missing)));
    expect(problems.filter((problem) => !pending.map(missing).includes(problem))).toEqual([]);
  });

  test(`are listed in ${SETTING_TESTS} with their current tests`, () => {
    const stale = readFileSync(join(projectRoot, SETTING_TESTS), 'utf8') !== page;
    expect(stale ? `stale: npm exec -c "node scripts/generate-setting-tests.ts"` : 'current').toBe('current');
  });
});

describe('a key', () => {
  test('with keys below it is shown by those, and a fixed type by each of its values', () => {
    const keys = settingKeys(describeConfig());
    expect(keys).toContain('sources.<name>.type=github');
    expect(keys).toContain('agents.<name>.workspace.pool');
    expect(keys).not.toContain('agents.<name>.workspace');
    expect(keys.filter((key) => key.includes('work_source.'))).toEqual([]);
  });

  test('without a test, a tag without a key and a tag above no test are problems', () => {
    const text = "// setting: a, unknown\ntest('one', () => {});\n// setting: b\nconst x = 1;\n";
    const { problems } = settingTestsFrom(['a', 'b'], readTags({ path: 'test/x.test.ts', text }, 'setting'));
    expect(problems).toEqual([
      'No test has the tag "setting: b".',
      'test/x.test.ts:1: copse.yml has no key "unknown".',
      'test/x.test.ts:3: "setting: b" does not stand above a test.',
    ]);
  });
});
