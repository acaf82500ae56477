import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import {
  EVIDENCE,
  evidenceFrom,
  generateEvidence,
  readPromises,
  readTags,
} from '../../scripts/generate-evidence.ts';
import { projectRoot } from './working-copy.ts';

describe('the promises', () => {
  const { page, problems } = generateEvidence(projectRoot);

  test('each have a test, and each tag of a test names one of them', () => {
    expect(problems).toEqual([]);
  });

  test(`are listed in ${EVIDENCE} with their current tests`, () => {
    const stale = readFileSync(join(projectRoot, EVIDENCE), 'utf8') !== page;
    expect(stale ? `stale: npm exec -c "node scripts/generate-evidence.ts"` : 'current').toBe('current');
  });
});

describe('a promise', () => {
  const security = '## Work\n\n- `kept`: It is kept,\n  always.\n- `rescue`: It is rescued.\n\n- not one\n';

  test('is read with its topic, its id and its whole sentence', () => {
    expect(readPromises(security)).toEqual([
      { topic: 'Work', id: 'kept', sentence: 'It is kept, always.' },
      { topic: 'Work', id: 'rescue', sentence: 'It is rescued.' },
    ]);
  });

  test('without a test, a tag without a promise and a promise made twice are problems', () => {
    const source = tagged('kept, unknown', "test('a', () => {});");
    const { problems } = evidenceFrom(
      [...readPromises(security), ...readPromises(security)],
      readTags(source),
    );
    expect(problems).toEqual([
      'docs/reference/promises.md makes the promise kept twice.',
      'docs/reference/promises.md makes the promise rescue twice.',
      'No test has the tag "promise: rescue".',
      'No test has the tag "promise: rescue".',
      'test/x.test.ts:1: docs/reference/promises.md makes no promise "unknown".',
    ]);
  });

  test('whose only tag is above no test has none', () => {
    const { problems } = evidenceFrom(
      readPromises('- `kept`: It is.\n'),
      readTags(tagged('kept', 'const x = 1;')),
    );
    expect(problems).toEqual([
      'No test has the tag "promise: kept".',
      'test/x.test.ts:1: "promise: kept" does not stand above a test.',
    ]);
  });
});

describe('a tag', () => {
  test.each([
    ['a test', "test('a rule', () => {});", 'a rule'],
    ['a test with a name on a line of its own', "it(\n  'a rule',\n  () => {},\n);", 'a rule'],
    ['a group', "describe('a group', () => { test('in it', () => {}); });", 'a group'],
    ['a table', "test.each([\n  ['a(', /'/],\n])('%s is a case', () => {});", '%s is a case'],
    ['a test under a condition', "it.runIf(isLinux).for(rows)('a rule', () => {});", 'a rule'],
    ['a name with a variable', 'test(`${seeds} runs`, () => {});', '${seeds} runs'],
    ['a name with a quote', String.raw`test('it\'s', () => {});`, "it's"],
    ['a further comment', "// Why.\ntest('a rule', () => {});", 'a rule'],
  ])('belongs to %s below it', (_, code, name) => {
    expect(readTags(tagged('kept', code))).toEqual([
      { id: 'kept', path: 'test/x.test.ts', line: 1, test: name },
    ]);
  });

  test('of a test in a group has the name of both', () => {
    const text = "describe('a group', () => {\n  // promise: kept\n  test('a rule', () => {});\n});\n";
    expect(readTags({ path: 'test/x.test.ts', text })).toMatchObject([{ test: 'a group > a rule' }]);
  });

  test.each(["\ntest('too far away', () => {});", 'test(name, () => {});', "expect('no test');"])(
    'belongs to no test above %j',
    (code) => {
      expect(readTags(tagged('kept', code))).toMatchObject([{ test: null }]);
    },
  );
});

function tagged(ids: string, code: string): { readonly path: string; readonly text: string } {
  return { path: 'test/x.test.ts', text: `// promise: ${ids}\n${code}\n` };
}
