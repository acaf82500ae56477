import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { plainEnv } from '../support/cli.ts';
import { isLong } from '../support/long.ts';
import { scratchFolder } from '../support/scratch.ts';
import { copyWorkingTree, linkModules, projectRoot } from './working-copy.ts';

const SRC = 'packages/copse/src';
const CANARY_FILE = 'test/guards/canary/src/tasks/rules/reads-files.ts';

/** Each in a file of its own, all of them there at once: every check runs once, and reports these and nothing else. */
const VIOLATIONS = [
  {
    violation: 'an import of node:fs in the kernel',
    part: 'boundaries',
    file: `${SRC}/kernel/policy.ts`,
    code: "\nexport { readFileSync as planted } from 'node:fs';\n",
    report: 'imports fs\n  kernel-is-pure',
  },
  {
    violation: 'an import of node:fs in rules for a type only',
    part: 'boundaries',
    file: `${SRC}/tasks/rules/areas/areas.ts`,
    code: "\nexport type { Stats as Planted } from 'node:fs';\n",
    report: 'imports fs\n  rules-are-pure',
  },
  {
    violation: 'a dead export',
    part: 'dead code',
    file: `${SRC}/tasks/rules/claim.ts`,
    code: '\nexport const plantedDeadExport = 1;\n',
    report: 'plantedDeadExport',
  },
  {
    violation: 'a wrong type',
    part: 'types',
    file: `${SRC}/workspaces/rules/escape.ts`,
    code: "\nexport const planted: number = 'text';\n",
    report: 'error TS2322',
  },
  {
    violation: 'a promise nobody waits for',
    part: 'lint',
    file: `${SRC}/agents/rules/finish/finish.ts`,
    code: '\nexport function planted(): void {\n  Promise.resolve(1);\n}\n',
    report: 'no-floating-promises',
  },
  {
    violation: 'a switch that forgets a case',
    part: 'lint',
    file: `${SRC}/queue/rules/landing.ts`,
    code: "\nexport function planted(x: 'a' | 'b'): void {\n  switch (x) {\n    case 'a':\n      break;\n  }\n}\n",
    report: 'switch-exhaustiveness-check',
  },
  {
    violation: 'a type imported in place, which the boundaries cannot see',
    part: 'lint',
    file: `${SRC}/workspaces/rules/naming.ts`,
    code: "\nexport type Planted = import('node:fs').Stats;\n",
    report: 'consistent-type-imports',
  },
  {
    violation: 'code that is not formatted',
    part: 'format',
    file: `${SRC}/tasks/rules/plan.ts`,
    code: '\nexport const planted   =   "x"\n',
    report: '',
  },
  {
    violation: 'a link that leads nowhere',
    part: 'documents',
    file: 'docs/guides/agents.md',
    code: '\n[planted](nowhere)\n',
    report: 'links to nowhere, which does not exist',
  },
  {
    violation: 'a document past its limit',
    part: 'documents',
    file: 'docs/GLOSSARY.md',
    code: '\nplanted\n'.repeat(2_000),
    report: 'and may have 10',
  },
] as const;

const PARTS = ['types', 'lint', 'format', 'boundaries', 'dead code', 'documents'] as const;
type Part = (typeof PARTS)[number];

/** The others take as long as `npm run check`. */
const QUICK: readonly Part[] = ['format', 'boundaries'];
/** They get a tree of the rules and the kernel, which import nothing else: they read it in seconds, and the whole in a minute. */
const IN_PART: readonly Part[] = ['types', 'lint'];
const checked = (isLong ? PARTS : QUICK).filter((part) => !IN_PART.includes(part));
const isQuick = ({ part }: { readonly part: Part }) => QUICK.includes(part);

let copy: string;
let rulesOnly: string;

beforeAll(() => {
  copy = mkdtempSync(join(scratchFolder(), 'copse-check-'));
  copyWorkingTree(copy);
  rulesOnly = mkdtempSync(join(scratchFolder(), 'copse-check-'));
  copyWorkingTree(rulesOnly, isOfRules);
  for (const folder of [copy, rulesOnly]) linkModules(projectRoot, folder);
});

afterAll(() => {
  for (const folder of [copy, rulesOnly]) rmSync(folder, { recursive: true, force: true });
});

function isOfRules(file: string): boolean {
  if (file.startsWith(`${SRC}/`)) return /\/(?:rules|kernel)\//.test(file);
  return file.startsWith('scripts/')
    ? file.endsWith('.mjs')
    : /^(?:packages\/copse\/)?(?!vitest)[^/]+$/.test(file);
}

describe('npm run check', () => {
  test('passes when there is nothing to report, and runs only the named parts', () => {
    const { code, output } = check(copy, 'format');
    expect(output).toMatch(/^ok +format +[\d.]+ s\n$/);
    expect(code).toBe(0);
  });

  test('reports that the boundary checker is blind when it misses the canary', () => {
    const canary = readFileSync(join(copy, CANARY_FILE), 'utf8');
    rmSync(join(copy, CANARY_FILE));
    try {
      const { code, output } = check(copy, 'boundaries');
      expect(code).toBe(1);
      expect(output).toContain('the checker is blind: rule rules-are-pure');
    } finally {
      writeFileSync(join(copy, CANARY_FILE), canary);
    }
  });

  describe('with a violation planted for every part', () => {
    let results: readonly ReturnType<typeof check>[];

    beforeAll(() => {
      for (const { file, code, part } of VIOLATIONS)
        appendFileSync(join(IN_PART.includes(part) ? rulesOnly : copy, file), code);
      results = [check(copy, ...checked), ...(isLong ? [check(rulesOnly, ...IN_PART)] : [])];
    }, 300_000);

    test('fails, and names every part', () => {
      for (const [at, parts] of [checked, ...(isLong ? [IN_PART] : [])].entries()) {
        expect(results[at]?.code).toBe(1);
        expect(results[at]?.output).toContain(`\nfailed: ${parts.join(', ')} `);
      }
    });

    const expectReported = ({ part, file, report }: (typeof VIOLATIONS)[number]) => {
      const found = reportsOf(part).filter((text) => text.includes(file) && text.includes(report));
      expect(found).not.toEqual([]);
    };
    test.each(VIOLATIONS.filter(isQuick))('$part reports $violation', (one) => expectReported(one));
    test.runIf(isLong).each(VIOLATIONS.filter((one) => !isQuick(one)))('$part reports $violation', (one) =>
      expectReported(one),
    );

    // So the tree as it is passes.
    const expectNothingElse = (part: Part) => {
      const mine = VIOLATIONS.filter(
        (planted) =>
          planted.part === part ||
          (part === 'dead code' && ![...IN_PART, 'documents'].includes(planted.part)),
      );
      expect(filesIn(reportsOf(part).join('\n'))).toEqual(filesIn(mine.map(({ file }) => file).join('\n')));
      expect(reportsOf(part)).toHaveLength(mine.length);
    };
    test.each(QUICK)('%s reports nothing else', (part) => expectNothingElse(part));
    test.runIf(isLong).each(PARTS.filter((part) => !QUICK.includes(part)))(
      '%s reports nothing else',
      (part) => expectNothingElse(part),
    );

    function reportsOf(part: Part): readonly string[] {
      const sections = results.flatMap(({ output }) => output.split('\n── '));
      const section = sections.find((text) => text.startsWith(`${part}\n`)) ?? '';
      return section.split(REPORT_BEGINS[part]).slice(1);
    }
  });
});

/** What comes before every single report. */
const REPORT_BEGINS: Readonly<Record<Part, RegExp>> = {
  types: /\n(?=\S+\(\d+,\d+\): error)/,
  lint: /\n(?= *[x!] [\w-]+\()/,
  format: /\n(?=\S+ \(\d+ms\))/,
  boundaries: /\n(?=\S+ imports |the checker is blind)/,
  'dead code': /\n(?=.*\S +\S+:\d+:\d+ *(?:\n|$))/,
  documents: /\n(?=\S+\.md (?:has|links to) )/,
};

function filesIn(text: string): readonly string[] {
  return [...new Set(text.match(/\b[\w./-]+\.(?:ts|mjs|json|md)\b/g))].toSorted();
}

function check(
  copy: string,
  ...parts: readonly Part[]
): { readonly code: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/check.mjs', ...parts], {
    cwd: copy,
    encoding: 'utf8',
    // The tools colour what they print where a variable of their caller says so.
    env: { ...plainEnv, NO_COLOR: '1', TERM: 'dumb' },
  });
  return { code: status, output: stdout + stderr };
}
