import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import {
  branchName,
  checkBranchPattern,
  chooseBranchPattern,
  isoDate,
  isValidBranchName,
  placeholders,
  slug,
} from '../../../packages/copse/src/workspaces/rules/naming.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.string({
    unit: fc.constantFrom(
      'a',
      '.',
      '..',
      '/',
      '-',
      '@',
      '{',
      '}',
      '.lock',
      ' ',
      '~',
      '\\',
      'HEAD',
      '\n',
      'ß',
      '\u3000',
    ),
  }),
);

const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

describe('a slug', () => {
  test.each([
    ['Fix login', 'fix-login'],
    ['Größe ändern / fix: ünïcode 😀', 'grosse-andern-fix-unicode'],
    ["Don't drop users’ data", 'dont-drop-users-data'],
    ["'quoted' words", 'quoted-words'],
    ['Ærøskøbing, Łódź, Þór, Đà Nẵng, œuvre', 'aeroskobing-lodz-thor-da-nang'],
    ['İstanbul ılık', 'istanbul-ilik'],
    ['STRASSE ẞ', 'strasse-ss'],
    ['ﬁle ①②③ ｆｕｌｌ', 'file-123-full'],
    ['soft\u00adhyphen zero\u200bwidth', 'softhyphen-zerowidth'],
    ['修复 login 错误', 'login'],
    ['  --  a__b..c//d  --  ', 'a-b-c-d'],
    ['feat(api): add v2.1', 'feat-api-add-v2-1'],
    ['one two three four five sixteen seven', 'one-two-three-four-five'],
    ['abcdefghij abcdefghij abcdefgh', 'abcdefghij-abcdefghij-abcdefgh'],
    ['x'.repeat(40), 'x'.repeat(30)],
    [`a ${'x'.repeat(40)}`, 'a'],
    ['', 'work'],
    ['😀', 'work'],
    ['修复', 'work'],
    ['\u0000\n\ud800', 'work'],
  ])('of %j is %s', (title, expected) => {
    expect(slug(title)).toBe(expected);
  });

  test('of any title is kebab-case ASCII of at most 30 characters and is its own slug', () => {
    fc.assert(
      fc.property(anyText, (title) => {
        const made = slug(title);
        expect(made).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
        expect(made.length).toBeLessThanOrEqual(30);
        expect(slug(made)).toBe(made);
      }),
      { numRuns: 1_000 },
    );
  });

  test('consists of whole words of the title unless its first word is too long', () => {
    const word = fc.stringMatching(/^[a-z]{1,30}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (words) => {
        const made = slug(words.join(' '));
        const used = made.split('-');
        expect(used).toEqual(words.slice(0, used.length));
        const next = words[used.length];
        expect(next === undefined || `${made}-${next}`.length > 30).toBe(true);
      }),
    );
  });

  test('follows the policy it is given', () => {
    expect(slug('hello world', { slugLength: 7, emptySlug: 'x' })).toBe('hello');
    expect(slug('?', { slugLength: 7, emptySlug: 'x' })).toBe('x');
  });
});

describe('a branch made from a pattern', () => {
  const values = {
    task: 'cp-a1b2',
    slug: 'fix-login',
    agent: 'ada',
    workItem: 'ABC-12',
    jobId: '1f2e3d4c',
    date: '2026-01-31',
    schedule: 'nightly',
  };

  test.each([
    ['{task}/{slug}', 'cp-a1b2/fix-login'],
    ['agent/{agent}/{schedule}/{date}', 'agent/ada/nightly/2026-01-31'],
    ['agent/{agent}/job-{jobId}', 'agent/ada/job-1f2e3d4c'],
    ['{workItem}-{task}', 'ABC-12-cp-a1b2'],
    ['{task}/{task}', 'cp-a1b2/cp-a1b2'],
    ['{task}.lock', 'cp-a1b2-lock'],
    ['plain', 'plain'],
  ])('%s is %s', (pattern, branch) => {
    expect(branchName(pattern, values)).toEqual({ kind: 'accepted', branch });
  });

  test.each([
    ['../x.lock', 'agent/x-lock'],
    ['a b', 'agent/a-b'],
    ['a/b', 'agent/a-b'],
    ['Größe', 'agent/Grosse'],
    ['.hidden.', 'agent/hidden'],
    ['-x', 'agent/x'],
    ['a..b', 'agent/a.b'],
    ['v1.2', 'agent/v1.2'],
    ['@{-1}', 'agent/1'],
    ['$(rm -rf ~);`x`|y', 'agent/rm-rf-x-y'],
    ['a\u3000b', 'agent/a-b'],
    ['HEAD', 'agent/head'],
    ['constructor', 'agent/constructor'],
    ['日本', 'agent/work'],
    ['', 'agent/work'],
    ['x'.repeat(300), `agent/${'x'.repeat(100)}`],
  ])('has the agent %j as one valid level', (agent, branch) => {
    expect(branchName('agent/{agent}', { agent })).toEqual({ kind: 'accepted', branch });
  });

  test('stays valid if a value is a name that git reserves', () => {
    expect(branchName('{workItem}', { workItem: 'HEAD' })).toEqual({ kind: 'accepted', branch: 'head' });
    expect(branchName('{agent}/{slug}', { agent: 'refs', slug: 'x' })).toEqual({
      kind: 'accepted',
      branch: 'ref/x',
    });
  });

  test('stays valid if a literal and a value together end in .lock', () => {
    expect(branchName('x.{agent}', { agent: 'lock' })).toEqual({ kind: 'accepted', branch: 'x-lock' });
    expect(branchName('x.{agent}/y', { agent: 'LOCK' })).toEqual({ kind: 'accepted', branch: 'x-lock/y' });
  });

  test.each([
    ['{tsk}/{slug}', /knows no \{tsk\}; there are \{task\}/],
    ['{}', /knows no \{\}/],
    ['{task', /may hold only/],
    ['{task} {slug}', /may hold only/],
    ['größe/{task}', /may hold only/],
    ['$(x)/{task}', /may hold only/],
    ['', /may hold only/],
    ['/{task}', /not a valid branch name/],
    ['{task}/', /not a valid branch name/],
    ['{task}//{slug}', /not a valid branch name/],
    ['-{task}', /not a valid branch name/],
    ['.{task}', /not a valid branch name/],
    ['a..{task}', /not a valid branch name/],
    ['refs/heads/{task}', /not a valid branch name/],
    ['HEAD', /not a valid branch name/],
    ['@', /not a valid branch name/],
    ['x'.repeat(251), /not a valid branch name/],
  ])('is refused with a reason for the pattern %j', (pattern, reason) => {
    expect(branchName(pattern, values)).toEqual({ kind: 'refused', reason: matching(reason) });
    expect(checkBranchPattern(pattern)).toEqual({ kind: 'refused', reason: matching(reason) });
  });

  test('is refused when the work lacks a value the pattern asks for', () => {
    expect(branchName('{task}/{workItem}', { task: 'cp-a1b2' })).toEqual({
      kind: 'refused',
      reason: matching(/needs \{workItem\}/),
    });
    expect(checkBranchPattern('{task}/{workItem}')).toEqual({ kind: 'accepted' });
  });

  // promise: no-shell
  test('has exactly the levels of its pattern and the safe alphabet, for any values', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (agent, schedule, workItem) => {
        const made = branchName('agent/{agent}/{schedule}.{workItem}', { agent, schedule, workItem });
        expect(made).toEqual({
          kind: 'accepted',
          branch: matching(/^agent\/[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/),
        });
      }),
      { numRuns: 1_000 },
    );
  });

  test('the policy’s own patterns are valid', () => {
    const { branchPattern, scheduledBranchPattern, jobBranchPattern } = defaultPolicy.naming;
    for (const pattern of [branchPattern, scheduledBranchPattern, jobBranchPattern]) {
      expect(checkBranchPattern(pattern)).toEqual({ kind: 'accepted' });
    }
  });
});

test('placeholders of a pattern are listed once, unknown ones apart', () => {
  expect(placeholders('{slug}/{task}-{task}/{Task}{toString}')).toEqual({
    known: ['task', 'slug'],
    unknown: ['Task', 'toString'],
  });
  expect(placeholders('plain')).toEqual({ known: [], unknown: [] });
});

describe('choosing a pattern', () => {
  const { scheduledBranchPattern, jobBranchPattern } = defaultPolicy.naming;

  test.each([
    ['{task}/{slug}', undefined, undefined, '{task}/{slug}'],
    ['x/{workItem}', 'ABC-1', undefined, 'x/{workItem}'],
    ['x/{workItem}', undefined, 'nightly', scheduledBranchPattern],
    ['x/{workItem}', undefined, undefined, jobBranchPattern],
    ['x/{schedule}', 'ABC-1', undefined, 'x/{schedule}'],
    ['x/{schedule}', undefined, 'nightly', 'x/{schedule}'],
  ])('%s with work item %s and schedule %s gives %s', (pattern, workItem, schedule, expected) => {
    expect(chooseBranchPattern({ pattern, workItem, schedule })).toBe(expected);
  });
});

test('a date in a branch is the day in UTC', () => {
  expect(isoDate(timestamp(0))).toBe('1970-01-01');
  expect(isoDate(timestamp(Date.UTC(2026, 11, 31, 23, 59, 59, 999)))).toBe('2026-12-31');
});

describe('a valid branch name', () => {
  test.each([
    'main',
    'feature/x',
    'a.b',
    'user@host',
    'fix/#12',
    'feat(x)',
    'größe/修复',
    'a{b}',
    'x@',
    'a/HEAD',
    'heads/x',
    'head',
    '😀',
  ])('may be %j', (name) => {
    expect(isValidBranchName(name)).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['a leading dash', '-x'],
    ['HEAD', 'HEAD'],
    ['@ alone', '@'],
    ['a full ref name', 'refs/heads/x'],
    ['a reflog', 'x@{1}'],
    ['an ideographic space', 'a\u3000b'],
    ['an invisible character', 'a\u200bb'],
    ['a direction override', 'a\u202eb'],
    ['a C1 control', 'a\u009bb'],
    ['command substitution', '$(touch x)'],
    ['a backtick', 'a`b`'],
    ['a semicolon', 'a;b'],
    ['a pipe', 'a|b'],
    ['quotes', `a"b'c`],
    ['half a character', 'a\ud800'],
    ['a name no file could have', 'é'.repeat(126)],
  ])('is never %s', (_, name) => {
    expect(isValidBranchName(name)).toBe(false);
  });
});

describe('git itself', () => {
  /** Which of the names git accepts, asked in few processes: a shell gets them as arguments, so they may hold anything but NUL. */
  function acceptedByGit(names: readonly string[]): boolean[] {
    const script =
      'for name do if git check-ref-format --branch "$name" >/dev/null 2>&1; then echo yes; else echo no; fi; done';
    const answers = execFileSync('sh', ['-c', script, 'sh', ...names], { cwd: tmpdir(), encoding: 'utf8' });
    return answers
      .trimEnd()
      .split('\n')
      .map((answer) => answer === 'yes');
  }

  // promise: no-shell
  test('accepts every branch made from any title, agent and work item', () => {
    const patterns = [
      '{task}/{slug}',
      'agent/{agent}/{schedule}/{date}',
      '{workItem}',
      'x.{agent}',
      '{agent}.{workItem}/{slug}',
    ];
    const cases = fc.sample(fc.tuple(fc.constantFrom(...patterns), anyText, anyText, anyText), 300);
    const branches = cases.map(([pattern, title, agent, workItem]) => {
      const values = {
        task: 'cp-a1b2',
        slug: slug(title),
        agent,
        workItem,
        schedule: title,
        date: '2026-01-31',
      };
      const made = branchName(pattern, values);
      if (made.kind === 'refused') throw new Error(`${made.reason} with ${JSON.stringify(values)}`);
      return made.branch;
    });
    const accepted = acceptedByGit(branches);
    expect(branches.filter((_, at) => accepted[at] !== true)).toEqual([]);
  });

  test('accepts every name called valid, and every name called invalid is either refused by git or dangerous', () => {
    const single = Array.from('ab./-@{}~^:?*[]\\ \t\n\u007f\u0001é😀\u3000\u00a0$(#!%=,+');
    const token = fc.constantFrom(...single, '..', 'HEAD', '.lock', 'lock', 'refs/', 'heads/');
    const drawn = fc.sample(fc.oneof(fc.string({ unit: token, maxLength: 5 }), anyText), 500);
    const names = [
      ...new Set([...drawn, '@', 'HEAD', '-', 'a.', 'a.lock/b', '@{-1}', 'a/.b', 'refs/heads/a']),
    ].filter((name) => !name.includes('\0') && name.isWellFormed());
    const accepted = acceptedByGit(names);
    const dangerous = /[\p{Z}\p{Cc}\p{Cf}$;|&<>'"`]|^refs\/|^@$/u;
    const wrong = names.filter((name, at) => {
      if (isValidBranchName(name)) return accepted[at] !== true;
      return accepted[at] === true && !dangerous.test(name);
    });
    expect(wrong).toEqual([]);
    expect(accepted.filter(Boolean).length).toBeGreaterThan(20);
  });
});
