import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  areaMatches,
  areasOverlap,
  parseArea,
  type Area,
} from '../../../packages/copse/src/tasks/rules/areas/areas.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';

function area(text: string): Area {
  const parsed = parseArea(text);
  if (parsed.kind === 'refused') throw new Error(parsed.reason);
  return parsed.area;
}

const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

const overlap = (a: string, b: string): boolean => areasOverlap([area(a)], [area(b)]).kind === 'overlap';

describe('writing an area', () => {
  test.each([
    ['src/auth/**', 'src/auth/**'],
    ['./src//auth/./x.ts', 'src/auth/x.ts'],
    ['docs/', 'docs/'],
    ['docs/.', 'docs/'],
    ['.', '**'],
    ['./', '**'],
    [' README.md ', 'README.md'],
    ['caf\u0065\u0301/', 'caf\u00e9/'],
    ['.github', '.github'],
    ['a..b/...', 'a..b/...'],
    ['app/[id]/[[...slug]]/page.tsx', 'app/[id]/[[...slug]]/page.tsx'],
    ['src{,/**}', 'src{,/**}'],
    ['{id}/x', '{id}/x'],
  ])('%j is kept as %j, and is the same area when read again', (text, kept) => {
    expect(area(text).text).toBe(kept);
    expect(area(kept)).toEqual(area(text));
  });

  test.each([
    ['', /empty/],
    ['  ', /empty/],
    ['/etc/passwd', /relative/],
    ['~/x', /relative/],
    ['C:/x', /relative/],
    ['src\\auth', /\//],
    ['../x', /\.\./],
    ['src/../x', /\.\./],
    ['src/..', /\.\./],
    ['{a,..}/x', /\.\./],
    ['{.,a}/x', /\.\./],
    ['!src/**', /exclude/],
    ['src/@(a|b)', /\{a,b\}/],
    ['[[:alpha:]]x', /\[a-z\]/],
    ['v{1..3}', /\{1,2,3\}/],
    ['a[bc', /\[ is not closed/],
    ['a[b/c]', /\[ is not closed/],
    ['[]', /\[ is not closed/],
    ['{a,b', /\{ is not closed/],
    ['a}', /closes nothing/],
    ['a\u0000b', /control/],
    ['a\nb', /control/],
    ['a\ud800', /half/],
    ['x'.repeat(defaultPolicy.text.areaLength + 1), /at most 300/],
  ])('%j is refused with a reason', (text, reason) => {
    expect(parseArea(text)).toEqual({ kind: 'refused', reason: matching(reason) });
  });

  test('any text is either an area with some path in it or refused with a reason', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('a', '.', '/', '*', '?', '[', ']', '{', '}', ',', '!', '-', '..') }),
    );
    fc.assert(
      fc.property(text, (written) => {
        const parsed = parseArea(written);
        expect(parsed.kind === 'accepted' ? 'an area' : parsed.reason).toMatch(/area/);
        if (parsed.kind === 'refused') return;
        expect(area(parsed.area.text)).toEqual(parsed.area);
        expect(areasOverlap([parsed.area], [area('.')]).kind).toBe('overlap');
      }),
      { numRuns: 300 },
    );
  });
});

describe('the paths of an area', () => {
  test.each([
    [
      'src/auth',
      ['src/auth', 'src/auth/login.ts', 'src/auth/a/b'],
      ['src/authority', 'src', 'src/Auth', 'x/src/auth'],
    ],
    ['src/auth/**', ['src/auth/login.ts', 'src/auth/a/b', 'src/auth/.env'], ['src/auth', 'src/authority/x']],
    ['docs/', ['docs/a', 'docs/a/b'], ['docs', 'docs2/a']],
    ['src/*.ts', ['src/a.ts', 'src/.ts'], ['src/a/b.ts', 'src/a.tsx', 'src/a.ts/b', 'src']],
    ['src/*', ['src/a', 'src/.env'], ['src', 'src/a/b']],
    ['*/index.ts', ['a/index.ts'], ['index.ts', 'a/b/index.ts']],
    ['**/*.sql', ['a.sql', 'db/a.sql', 'db/m/a.sql'], ['a.sqlx', 'sql']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b', 'a/b/below'], ['ab', 'a/xb', 'b']],
    ['src/**.ts', ['src/a.ts', 'src/x/a.ts'], ['src/a.js']],
    ['{a,b}/**', ['a/x', 'b/x/y'], ['c/x', 'a']],
    ['{a,b/c}', ['a', 'a/x', 'b/c', 'b/c/x'], ['b', 'b/x']],
    ['src{,/**}', ['src', 'src/x', 'src/x/y'], ['srcx']],
    ['{docs/,src/}', ['docs/x', 'src/y/z'], ['docs', 'src']],
    ['a{b,{c,d}e}', ['ab', 'ace', 'ade', 'ade/x'], ['ac', 'abe']],
    ['f?o', ['foo', 'f😀o'], ['fo', 'f/o', 'fooo', 'foo/x']],
    ['[abc]x', ['ax', 'cx', '[abc]x', 'ax/y'], ['dx', 'abx']],
    ['[!a-c]', ['d', '-', '[!a-c]'], ['a', 'b', '/']],
    ['[a-]', ['a', '-'], ['b']],
    ['[]a]', [']', 'a'], ['b']],
    ['app/[id]/page.tsx', ['app/[id]/page.tsx', 'app/i/page.tsx'], ['app/id/page.tsx']],
    ['app/[user-id]', ['app/[user-id]', 'app/[user-id]/page.tsx'], ['app/x']],
    ['app/[[...slug]]/page.tsx', ['app/[[...slug]]/page.tsx'], ['app/slug/page.tsx']],
    ['{id}', ['{id}', '{id}/x'], ['id']],
    ['a,b', ['a,b'], ['a', 'b']],
    ['.', ['a', 'a/b', '.git'], ['']],
    ['caf\u00e9', ['cafe\u0301', 'caf\u00e9'], ['cafe']],
  ])('%s', (text, inside, outside) => {
    expect(inside.filter((path) => !areaMatches(area(text), path))).toEqual([]);
    expect(outside.filter((path) => areaMatches(area(text), path))).toEqual([]);
  });
});

describe('two areas', () => {
  test.each([
    ['src/auth', 'src/auth/login.ts'],
    ['src/auth/', 'src/auth'],
    ['src/auth/**', 'src/**/login.ts'],
    ['src/*.ts', 'src/index.*'],
    ['**/*.sql', 'db/**'],
    ['**/*.sql', 'db'],
    ['{a,b}/**', 'b/c'],
    ['*a*', '*b*'],
    ['**/a/**', '**/b/**'],
    ['a/**', '**/b'],
    ['[a-m]x', '[m-z]x'],
    ['[!a]', '[!b]'],
    ['.', 'anything/at/all'],
    ['src/[id]', 'src/i'],
    ['*/b', 'a/*'],
    ['README.md', '**/*.sql'],
  ])('%s and %s overlap', (a, b) => {
    expect(areasOverlap([area(a)], [area(b)])).toEqual({
      kind: 'overlap',
      between: [area(a).text, area(b).text],
    });
    expect(overlap(b, a)).toBe(true);
  });

  test.each([
    ['src/auth', 'src/authority'],
    ['src/auth/**', 'src/billing/**'],
    ['src/*.ts', 'src/*.md'],
    ['src/*.ts', 'src/**/*.md'],
    ['src/*', 'src/*/x'],
    ['*/b?', 'b?'],
    ['docs/', 'doc?'],
    ['{a,b}/**', '{c,d}/**'],
    ['[a-m]x', '[n-z]x'],
    ['?', '??'],
    ['**/*.ts', '**/*.tsx'],
    ['a*', 'b*'],
    ['*a', '*b'],
    ['README.md', 'readme.md'],
  ])('%s and %s do not overlap', (a, b) => {
    expect(areasOverlap([area(a)], [area(b)])).toEqual({ kind: 'apart' });
    expect(overlap(b, a)).toBe(false);
  });

  test('in lists overlap as soon as any pair does, and that pair is named', () => {
    const list = (...texts: string[]): Area[] => texts.map(area);
    expect(areasOverlap(list('a', 'b/**'), list('c', 'b/x'))).toEqual({
      kind: 'overlap',
      between: ['b/**', 'b/x'],
    });
    expect(areasOverlap(list('a', 'b'), list('c', 'd'))).toEqual({ kind: 'apart' });
    expect(areasOverlap([], list('.'))).toEqual({ kind: 'apart' });
  });
});

/** A glob built together with a regular expression that says independently what it matches. */
interface Glob {
  readonly text: string;
  readonly paths: RegExp;
}
interface Part {
  readonly text: string;
  readonly source: string;
  readonly isWild: boolean;
  readonly mayBeEmpty: boolean;
}

const escaped = (text: string): string => text.replace(/[[\]!]/g, '\\$&');
const part = (text: string, source: string, isWild = false, mayBeEmpty = false): Part => ({
  text,
  source,
  isWild,
  mayBeEmpty,
});
const characterClass = (text: string, source: string): Part => part(text, `(?:${source}|${escaped(text)})`);
const simplePart = fc.constantFrom(
  part('a', 'a'),
  part('b', 'b'),
  part('*', '[^/]*', true),
  part('?', '[^/]', true),
  characterClass('[ab]', '[ab]'),
  characterClass('[!a]', '[^a/]'),
  characterClass('[!b]', '[^b/]'),
);
const choice = (alternatives: readonly Part[]): Part =>
  part(
    `{${alternatives.map(({ text }) => text).join(',')}}`,
    `(?:${alternatives.map(({ source }) => source).join('|')})`,
    alternatives.every(({ isWild }) => isWild),
    alternatives.some(({ mayBeEmpty }) => mayBeEmpty),
  );
const alternative = fc.oneof(simplePart, fc.constant(part('', '', false, true)));
const anyPart = fc.oneof(
  { weight: 3, arbitrary: simplePart },
  fc.array(alternative, { minLength: 2, maxLength: 3 }).map(choice),
);
const name = (maxParts: number): fc.Arbitrary<readonly Part[]> =>
  fc.array(anyPart, { minLength: 1, maxLength: maxParts }).filter(
    (parts) =>
      !parts
        .map(({ text }) => text)
        .join('')
        .includes('**') && parts.some(({ mayBeEmpty }) => !mayBeEmpty),
  );

function glob(maxNames: number, maxParts: number): fc.Arbitrary<Glob> {
  const level = fc.oneof({ weight: 3, arbitrary: name(maxParts) }, fc.constant('**' as const));
  return fc
    .tuple(fc.array(level, { minLength: 1, maxLength: maxNames }), fc.boolean())
    .map(([levels, hasSlash]) => {
      const isLast = (at: number): boolean => at === levels.length - 1;
      let source = '';
      for (const [at, one] of levels.entries()) {
        if (one === '**') source += isLast(at) ? '.+' : '(?:[^/]+/)*';
        else source += `(?=[^/])${one.map((each) => each.source).join('')}${isLast(at) ? '' : '/'}`;
      }
      const last = levels.at(-1);
      const endsInSlash = hasSlash && last !== '**';
      const isPlain = last !== '**' && last?.every(({ isWild }) => !isWild) === true;
      if (endsInSlash) source += '/.+';
      else if (isPlain) source += '(?:/.+)?';
      const text = levels
        .map((one) => (one === '**' ? one : one.map((each) => each.text).join('')))
        .join('/');
      return { text: endsInSlash ? `${text}/` : text, paths: new RegExp(`^${source}$`) };
    });
}

function universe(alphabet: readonly string[], depth: number): readonly string[] {
  const names = alphabet.flatMap((first) => [first, ...alphabet.map((second) => first + second)]);
  let level = [...names];
  const paths = [...names];
  for (let at = 1; at < depth; at += 1) {
    level = level.flatMap((path) => names.map((each) => `${path}/${each}`));
    paths.push(...level);
  }
  return paths;
}

describe('against brute force over a small world of paths', () => {
  // Two levels of two parts each, plus what lies below: a shared path, if there is one, is among these.
  const world = universe(['a', 'b', 'c'], 4);
  const small = universe(['a', 'b'], 3);

  test('a path belongs to an area exactly when the reference says so', () => {
    fc.assert(
      fc.property(glob(3, 3), (one) => {
        const parsed = area(one.text);
        expect(small.filter((path) => areaMatches(parsed, path) !== one.paths.test(path))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('two areas overlap exactly when some path belongs to both', () => {
    fc.assert(
      fc.property(glob(2, 2), glob(2, 2), (a, b) => {
        const shared = world.find((path) => a.paths.test(path) && b.paths.test(path));
        expect([overlap(a.text, b.text), shared]).toEqual([shared !== undefined, shared]);
      }),
      { numRuns: 1_000 },
    );
  });

  test('no overlap is ever missed between longer areas', () => {
    fc.assert(
      fc.property(glob(4, 4), glob(4, 4), (a, b) => {
        const shared = small.find((path) => a.paths.test(path) && b.paths.test(path));
        expect([shared, shared === undefined || overlap(a.text, b.text)]).toEqual([shared, true]);
      }),
      { numRuns: 2_000 },
    );
  });

  test('overlap does not depend on the order, and every area overlaps itself', () => {
    fc.assert(
      fc.property(glob(4, 4), glob(4, 4), (a, b) => {
        expect(overlap(a.text, b.text)).toBe(overlap(b.text, a.text));
        expect(overlap(a.text, a.text)).toBe(true);
      }),
    );
  });
});

describe('hostile areas', () => {
  const fitting = (piece: string): number => Math.floor((defaultPolicy.text.areaLength - 2) / piece.length);

  test.each(['*a', '**/', '{a,b}', '{a,*}', '?*', '[!a]*', '{*,{*,', '{,a}'])(
    'made of many %j are compared quickly',
    (piece) => {
      const count = piece === '{*,{*,' ? 25 : fitting(piece);
      const closing = piece === '{*,{*,' ? '}}'.repeat(count) : '';
      const [a, b] = [area(`${piece.repeat(count)}${closing}x`), area(`${piece.repeat(count)}${closing}y`)];
      const startedAt = performance.now();
      areasOverlap([a], [b]);
      expect(areaMatches(a, 'a'.repeat(4_096))).toBe(false);
      expect(performance.now() - startedAt).toBeLessThan(2_000);
    },
  );
});
