/**
 * Writes docs/reference/evidence.md: each promise of docs/reference/promises.md with the tests that show it.
 *
 * A promise is a list item of that page: "- `some-id`: One sentence." A test shows it when this line stands directly above
 * its `test(`, `it(` or `describe(`, alone or among other line comments:
 *
 *   // promise: some-id, another-id
 *
 * With `--check` nothing is written; it exits 1 when the page is stale or a promise and its tests do not match.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';

import { type CallExpression, type Expression, parseSync, Visitor } from 'oxc-parser';

export const EVIDENCE = 'docs/reference/evidence.md';
const PROMISES = 'docs/reference/promises.md';

export interface Evidence {
  readonly page: string;
  /** One sentence each: a promise without a test, a tag without a promise or without a test. */
  readonly problems: readonly string[];
}

export interface SourceFile {
  /** Relative to the repository root, with slashes. */
  readonly path: string;
  readonly text: string;
}

interface Promised {
  readonly topic: string;
  readonly id: string;
  readonly sentence: string;
}

export interface Tag {
  readonly id: string;
  readonly path: string;
  readonly line: number;
  /** The names of the test and of what it is in, outermost first; null above anything else. */
  readonly test: string | null;
}

export function generateEvidence(root: string): Evidence {
  const promises = readPromises(readFileSync(join(root, PROMISES), 'utf8'));
  return evidenceFrom(
    promises,
    testSources(root).flatMap((source) => readTags(source)),
  );
}

export function evidenceFrom(promises: readonly Promised[], tags: readonly Tag[]): Evidence {
  const ids = new Set(promises.map(({ id }) => id));
  const shown = new Set(tags.filter(({ test }) => test !== null).map(({ id }) => id));
  return {
    page: renderPage(promises, tags),
    problems: [
      ...promises
        .filter((promise, index) => promises.findIndex(({ id }) => id === promise.id) !== index)
        .map(({ id }) => `${PROMISES} makes the promise ${id} twice.`),
      ...promises.filter(({ id }) => !shown.has(id)).map(({ id }) => `No test has the tag "promise: ${id}".`),
      ...tags
        .filter(({ id }) => !ids.has(id))
        .map(({ id, path, line }) => `${path}:${line}: ${PROMISES} makes no promise ${JSON.stringify(id)}.`),
      ...tags
        .filter(({ test }) => test === null)
        .map(({ id, path, line }) => `${path}:${line}: "promise: ${id}" does not stand above a test.`),
    ],
  };
}

const PROMISE = /^- `([a-z][a-z0-9-]*)`: (.+(?:\n {2}\S.*)*)$/gm;

export function readPromises(page: string): readonly Promised[] {
  return page.split(/^#+ /m).flatMap((section) => {
    const topic = section.slice(0, section.indexOf('\n')).trim();
    return Array.from(section.matchAll(PROMISE), ([, id = '', sentence = '']) => ({
      topic,
      id,
      sentence: sentence.replaceAll(/\s+/g, ' '),
    }));
  });
}

/** Of the lines `// promise: a, b`, or of those with another first word. */
export function readTags({ path, text }: SourceFile, word = 'promise'): readonly Tag[] {
  const mark = `// ${word}: `;
  const lines = text.split('\n');
  const tagged = lines.flatMap((line, index) => {
    const trimmed = line.trim();
    const ids = trimmed.startsWith(mark) ? trimmed.slice(mark.length).split(',') : [];
    return ids.map((id) => ({ id: id.trim(), index }));
  });
  if (tagged.length === 0) return [];
  const tests = testsByLine(text);
  return tagged.map(({ id, index }) => {
    const below = lines.findIndex((line, at) => at > index && !line.trim().startsWith('//'));
    return { id, path, line: index + 1, test: tests.get(below) ?? null };
  });
}

/** Of every test and group of tests in a file, with the names of the groups around it before its own. */
export function testNames(text: string): readonly string[] {
  return [...testsByLine(text).values()];
}

/** The full name of every test and group of tests, by the index of the line that it begins on. */
function testsByLine(text: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  const inside: string[] = [];
  new Visitor({
    CallExpression(call) {
      const name = testName(call, text);
      if (name === null) return;
      inside.push(name);
      const line = text.slice(0, call.start).split('\n').length - 1;
      if (!found.has(line)) found.set(line, inside.join(' > '));
    },
    'CallExpression:exit'(call) {
      if (testName(call, text) !== null) inside.pop();
    },
  }).visit(parseSync('test.ts', text).program);
  return found;
}

/** Of `test('name', …)`, and of `test.runIf(here).each(rows)('name', …)`. */
function testName(call: CallExpression, text: string): string | null {
  const [name] = call.arguments;
  if (name?.type !== 'Literal' && name?.type !== 'TemplateLiteral') return null;
  if (!/^(test|it|describe)$/.test(rootOf(call.callee))) return null;
  return text.slice(name.start + 1, name.end - 1).replaceAll(/\\(['"`])/g, '$1');
}

/** `test` of `test.runIf(here).each(rows)`. */
function rootOf(callee: Expression): string {
  if (callee.type === 'CallExpression') return rootOf(callee.callee);
  if (callee.type === 'MemberExpression') return rootOf(callee.object);
  return callee.type === 'Identifier' ? callee.name : '';
}

function renderPage(promises: readonly Promised[], tags: readonly Tag[]): string {
  const topics = Map.groupBy(promises, ({ topic }) => topic);
  return [
    '<!-- Generated by scripts/generate-evidence.ts. Do not edit. -->',
    '',
    '# Evidence',
    '',
    'Each of the [promises](promises.md) with the tests that fail when it is broken. `$name`, `%s` and `${…}` stand',
    'for the cases of a test.',
    '',
    ...Array.from(topics, ([topic, made]) => [
      `## ${topic}`,
      '',
      ...made.flatMap((promise) => renderPromise(promise, tags)),
    ]).flat(),
  ].join('\n');
}

function renderPromise({ id, sentence }: Promised, tags: readonly Tag[]): readonly string[] {
  const tests = tags.filter((tag) => tag.id === id && tag.test !== null);
  const files = Map.groupBy(tests, ({ path }) => path);
  return [
    `### ${id}`,
    '',
    sentence,
    '',
    ...Array.from(files, ([path, mine]) => [
      `- ${path}`,
      ...mine.map(({ test }) => `  - \`${(test ?? '').replaceAll('`', "'")}\``),
    ]).flat(),
    '',
  ];
}

export function testSources(root: string): readonly SourceFile[] {
  return globSync('test/**/*.ts', { cwd: root, exclude: ['**/node_modules'] })
    .map((name) => name.split(sep).join('/'))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

function main(args: readonly string[]): void {
  const root = join(import.meta.dirname, '..');
  const { page, problems } = generateEvidence(root);
  for (const problem of problems) console.error(problem);
  const file = join(root, EVIDENCE);
  const stale = !existsSync(file) || readFileSync(file, 'utf8') !== page;
  if (args.includes('--check')) {
    if (stale) console.error(`${EVIDENCE} is stale: run scripts/generate-evidence.ts`);
  } else if (stale) {
    writeFileSync(file, page);
    console.log(`wrote ${EVIDENCE}`);
  }
  if (problems.length > 0 || (args.includes('--check') && stale)) process.exitCode = 1;
}

if (import.meta.main) main(process.argv.slice(2));
