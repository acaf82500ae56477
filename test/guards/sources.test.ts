import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

import { transformSync } from 'esbuild';
import { describe, expect, test } from 'vitest';

import { projectRoot } from './working-copy.ts';

type Rule = {
  readonly rule: string;
  readonly appliesTo: (file: string) => boolean;
  readonly forbidden: RegExp;
  /** Code that breaks the rule, to prove that the guard sees it. */
  readonly violations: readonly string[];
  readonly allowed: readonly string[];
};

const within =
  (...folders: string[]) =>
  (file: string): boolean =>
    folders.some((folder) => file.startsWith(folder));

/** Where processes are started: git, agents, commands of copse.yml, forges, notices. */
const STARTERS = [
  'git/',
  'processes/',
  'workspaces/files/',
  'agents/runtimes/',
  'agents/files/',
  'agents/sandbox/',
  'queue/checks/',
  'review/forges/',
  'explain/channels/',
];

const isPure = (file: string): boolean => /^kernel\/[^/]+$|^[^/]+\/rules\//.test(file);

const RULES: readonly Rule[] = [
  {
    rule: 'only adapters start processes',
    appliesTo: (file) => !within(...STARTERS)(file),
    forbidden: /["'`](node:)?child_process["'`]/,
    violations: ["import { spawn } from 'node:child_process'; spawn('ls')", "await import('child_process')"],
    allowed: [
      "import type { ChildProcess } from 'node:child_process'",
      '// node:child_process is for adapters',
    ],
  },
  {
    rule: 'only the room git starts git',
    appliesTo: (file) => !within('git/')(file),
    forbidden: /\b(spawn|exec|execFile|fork)\w*\(\s*["'`]git(?=["'`\s])/,
    violations: ["execFile('git', ['status'])", 'execSync(`git status`)', 'spawnSync("git")'],
    allowed: ["name('git')", "execFile('tmux', ['-C'])", "execFile('git-lfs', ['version'])"],
  },
  {
    rule: 'only cli/output.ts writes to stdout and stderr, through cli/stdout.ts, and a runner to its log',
    appliesTo: (file) => !['cli/output.ts', 'cli/stdout.ts', 'cli.ts', 'compose/runner.ts'].includes(file),
    forbidden:
      /\bprocess\s*\.\s*(stdout|stderr)\b|\bconsole\s*\.\s*\w+\s*\(|["']node:process["']|\bwriteSync\(\s*[12]\b/,
    violations: [
      "console.log('x')",
      "process.stdout.write('x')",
      "process.stderr.write('x')",
      "import { stdout } from 'node:process'; stdout.write('x')",
      "writeSync(2, 'x')",
    ],
    allowed: [
      '// console.log is not for us',
      "'console.example.com'",
      'child.stdout.pipe(file)',
      'writeSync(descriptor, text)',
    ],
  },
  {
    rule: 'rules and the kernel have no clock, no randomness, no timers and no process',
    appliesTo: isPure,
    forbidden:
      /\bDate\.now\b|\bnew Date\b(?!\s*\(\s*[^)\s])|(?<!new )\bDate\(|\bTemporal\.Now\b|\bMath\.random\b|\bperformance\s*\.\s*\w|\bcrypto\b|\bset(Timeout|Interval|Immediate)\b|\bprocess\s*\.\s*\w|\bglobalThis\b/,
    violations: [
      'const now = Date.now();',
      'const now = new Date();',
      'const now = new Date;',
      'const now = Date();',
      'const id = Math.random();',
      'const id = crypto.randomUUID();',
      'const now = performance.now();',
      'setTimeout(f, 1);',
      'const home = process.env;',
    ],
    allowed: [
      'const then = new Date(at);',
      '// Date.now() is an argument here',
      'const iso = new Date(0).toISOString();',
    ],
  },
  {
    rule: 'rules and the kernel are synchronous',
    appliesTo: isPure,
    forbidden: /\basync\s*(function\b|\(|\w+\s*=>)|\bawait\s|\bnew Promise\b|\bPromise\.\w/,
    violations: ['async function f() {}', 'const f = async () => 1;', 'await f();', 'Promise.resolve(1);'],
    allowed: ["const kind = 'async';"],
  },
];

const sourceRoot = join(projectRoot, 'packages', 'copse', 'src');
const sources = readdirSync(sourceRoot, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => file.split(sep).join('/'));

describe.each(RULES)('$rule', ({ appliesTo, forbidden, violations, allowed }) => {
  test('in every source file', () => {
    const guilty = sources
      .filter(appliesTo)
      .map((file) => ({
        file,
        found: forbidden.exec(codeOf(readFileSync(join(sourceRoot, file), 'utf8')))?.[0],
      }))
      .filter(({ found }) => found !== undefined);
    expect(guilty).toEqual([]);
  });

  test.each(violations)('and the guard sees: %s', (code) => {
    expect(codeOf(code)).toMatch(forbidden);
  });

  test.each(allowed)('and the guard lets pass: %s', (code) => {
    expect(codeOf(code)).not.toMatch(forbidden);
  });
});

test('the guards look at the sources', () => {
  expect(sources).toContain('kernel/policy.ts');
});

/** The code without its comments and types, which may name what the code may not use. */
function codeOf(source: string): string {
  return transformSync(source, { loader: 'ts', format: 'esm', legalComments: 'none', logLevel: 'silent' })
    .code;
}
