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

describe('the keys of copse.yml', () => {
  const { page, problems } = generateSettingTests(projectRoot);

  test('each have a test that shows their effect, and each tag of a test names one of them', () => {
    expect(problems).toEqual([]);
  });

  test(`are listed in ${SETTING_TESTS} with their current tests`, () => {
    const stale = readFileSync(join(projectRoot, SETTING_TESTS), 'utf8') !== page;
    expect(stale ? `stale: npm exec -c "node scripts/generate-setting-tests.ts"` : 'current').toBe('current');
  });
});

describe('a key', () => {
  test('with keys below it is shown by those, a short form by itself, and a fixed type by each of its values', () => {
    const keys = settingKeys(describeConfig());
    expect(keys).toContain('sources.<name>.type=github');
    expect(keys).toContain('agents.<name>.workspace.pool');
    expect(keys).not.toContain('agents.<name>.workspace');
    expect(keys).toEqual(
      expect.arrayContaining(['agents.<name>.hooks.before_run', 'agents.<name>.hooks.before_run.url']),
    );
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
