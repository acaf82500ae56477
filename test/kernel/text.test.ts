import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';
import {
  checkBody,
  checkName,
  checkTitle,
  shown,
  unlinked,
  unreferenced,
} from '../../packages/copse/src/kernel/text.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  // Every UTF-16 code unit, lone surrogates included.
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.string({
    unit: fc.constantFrom(
      'a',
      '\n',
      '\t',
      '\r',
      '\u001b',
      '\u009b',
      '\u202e',
      '\u202a',
      '\u202c',
      '\u2066',
      '\u2069',
      '\ud800',
    ),
  }),
);

const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

describe('a title', () => {
  test.each([
    'Fix login',
    'Größe ändern / fix: ünïcode 😀',
    'تصحيح تسجيل الدخول',
    'תיקון \u2068login\u2069 בדף',
    'a mark \u200f or two \u200e',
    '👩‍👩‍👧‍👦',
    'e\u0301 stays as it came',
    '-v is not an option here',
    'x'.repeat(200),
    '😀'.repeat(200),
  ])('%j is kept exactly', (text) => {
    expect(checkTitle(text)).toEqual({ kind: 'accepted', title: text });
  });

  test('loses the space around it', () => {
    expect(checkTitle(' \t\u3000Fix login\n')).toEqual({ kind: 'accepted', title: 'Fix login' });
  });

  test.each([
    ['', /empty/],
    [' \n\t', /empty/],
    ['two\nlines', /one line/],
    ['two\rlines', /one line/],
    ['two\u2028lines', /one line/],
    ['two\u0085lines', /one line/],
    ['a\tb', /U\+0009/],
    ['a\u0000b', /U\+0000/],
    ['\u001b[31mred', /U\+001B/],
    ['\u009b31mred', /U\+009B/],
    ['a\u007fb', /U\+007F/],
    ['half \ud83d', /surrogate/],
    ['\udc00 half', /surrogate/],
    ['\u200b\u2060', /no visible/],
    ['\u3164', /no visible/],
    ['safe\u202etxt.exe', /direction/],
    ['\u202dover\u202c', /direction/],
    ['open \u2067isolate', /direction/],
    ['stray \u2069', /direction/],
    ['crossed \u202a\u2067\u202c\u2069', /direction/],
    ['x'.repeat(201), /at most 200 characters; this one has 201/],
    ['😀'.repeat(201), /at most 200/],
  ])('%j is refused with a reason', (text, reason) => {
    const checked = checkTitle(text);
    expect(checked.kind).toBe('refused');
    expect(checked).toHaveProperty('reason', matching(reason));
  });

  // promise: terminal-safe
  test('is accepted again unchanged, prints unchanged, and fits one line', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const checked = checkTitle(text);
        if (checked.kind === 'refused') return;
        expect(checkTitle(checked.title)).toEqual(checked);
        expect(shown(checked.title)).toBe(checked.title);
        expect(checked.title).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
      }),
      { numRuns: 1_000 },
    );
  });

  test('never has the refused text unescaped in the reason', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const checked = checkTitle(text);
        expect(checked.kind === 'accepted' ? 'accepted' : checked.reason).toMatch(/^[\x20-\x7e]+$/);
      }),
    );
  });
});

describe('a name', () => {
  test.each(['ada', 'a b', '../x.lock', '日本', 'Größe', 'x'.repeat(100)])('%j is accepted', (text) => {
    expect(checkName(text)).toEqual({ kind: 'accepted', name: text });
  });

  test.each([
    ['', /The name is empty/],
    ['--help', /option/],
    [' -x', /option/],
    ['a\nb', /one line/],
    ['a\u0000', /U\+0000/],
    ['x'.repeat(101), /at most 100/],
  ])('%j is refused with a reason', (text, reason) => {
    expect(checkName(text)).toEqual({ kind: 'refused', reason: matching(reason) });
  });
});

describe('a body', () => {
  test('is kept unchanged, with any content', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(checkBody(text)).toEqual({ kind: 'accepted', body: text });
      }),
    );
    expect(checkBody('\u0000\ud800 \n')).toEqual({ kind: 'accepted', body: '\u0000\ud800 \n' });
  });

  test('may have the length of the policy and not one character more', () => {
    const { bodyLength } = defaultPolicy.text;
    expect(checkBody('x'.repeat(bodyLength)).kind).toBe('accepted');
    expect(checkBody('x'.repeat(bodyLength + 1))).toEqual({
      kind: 'refused',
      reason: matching(/at most 8388608/),
    });
  });
});

describe('text shown on a terminal', () => {
  test.each([
    ['plain\n\ttext', 'plain\n\ttext'],
    ['\u001b[2J', '\\x1b[2J'],
    ['\u009b2J', '\\x9b2J'],
    ['over\rwrite', 'over\\x0dwrite'],
    ['\u0000\u0007\u0008\u007f', '\\x00\\x07\\x08\\x7f'],
    ['a\ud800b', 'a\ufffdb'],
    ['😀 שלום', '😀 שלום'],
    ['// note\u2028evil()\u2029', '// note\\u2028evil()\\u2029'],
    ['safe\u202etxt', 'safe\\u202etxt'],
    ['\u2067closed\u2069', '\u2067closed\u2069'],
    ['\u2067open\nnext', '\\u2067open\nnext'],
    ['\u2067open\n\u2067closed\u2069', '\\u2067open\n\u2067closed\u2069'],
  ])('%j becomes %j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  // promise: terminal-safe
  test('holds no control character but line feed and tab, is well formed, and does not change when shown again', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const printed = shown(text);
        expect(printed.replace(/[\n\t]/g, '')).not.toMatch(/\p{Cc}/u);
        expect(printed).not.toMatch(/[\u202d\u202e]/);
        expect(printed.isWellFormed()).toBe(true);
        expect(shown(printed)).toBe(printed);
      }),
      { numRuns: 1_000 },
    );
  });

  test('keeps its line breaks', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(shown(text).split('\n')).toHaveLength(text.split('\n').length);
      }),
    );
  });
});

describe('text of agents for others', () => {
  // promise: agent-text-calls-no-person
  test.each([
    '<!channel> <!here|x>',
    '<@U123> @channel @here',
    '<https://evil.example|the report>',
    '[the report](https://evil.example)',
    'see www.evil.example and ftp://evil.example',
  ])('in a chat calls nobody and leads nowhere: %s', (text) => {
    const said = unlinked(text);
    expect(said).not.toMatch(/[<>]|@\w|:\/\/|www\.|\]\(/);
    expect(unlinked(said)).toBe(said);
  });

  test.each([
    ['Closes #12'],
    ['fixes org/repo#12, resolves GH-12'],
    ['closes https://github.com/org/repo/issues/12'],
    ['Closes https://gitlab.com/a/b/-/merge_requests/12 and !12'],
    ['done\n/merge\n  /close'],
    ['cc @grace'],
  ])('in a pull request closes nothing and orders nothing: %j', (text) => {
    expect(unreferenced(text)).not.toMatch(/[#!]\d|GH-\d|\/(issues|merge_requests)\/\d|^\s*\/\w|@\w/m);
  });

  test('is otherwise as it was written', () => {
    const text = 'It costs 5 $ & takes 3 # of a/b; see src/a.ts, 1 < 2.';
    expect(unreferenced(text)).toBe(text);
  });
});
