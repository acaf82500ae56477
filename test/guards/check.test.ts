import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { copyWorkingTree, linkModules, projectRoot } from './working-copy.ts';

const DOMAIN_FILE = 'packages/copse/src/domain/policy.ts';
const CANARY_FILE = 'test/guards/canary/src/domain/reads-files.ts';

let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'copse-check-'));
  copyWorkingTree(copy);
  linkModules(projectRoot, copy);
});

afterAll(() => {
  rmSync(copy, { recursive: true, force: true });
});

describe('npm run check', () => {
  test('passes on the tree as it is', () => {
    const { code, output } = check();
    expect(output).not.toContain('FAILED');
    expect(code).toBe(0);
  });

  test.each([
    {
      violation: 'an import of node:fs in domain',
      part: 'boundaries',
      code: "\nexport { readFileSync as planted } from 'node:fs';\n",
      report: [DOMAIN_FILE, 'domain-is-pure'],
    },
    {
      violation: 'an import of node:fs in domain for a type only',
      part: 'boundaries',
      code: "\nexport type { Stats as Planted } from 'node:fs';\n",
      report: [DOMAIN_FILE, 'domain-is-pure'],
    },
    {
      violation: 'a dead export',
      part: 'dead code',
      code: '\nexport const plantedDeadExport = 1;\n',
      report: [DOMAIN_FILE, 'plantedDeadExport'],
    },
    {
      violation: 'a wrong type',
      part: 'types',
      code: "\nexport const planted: number = 'text';\n",
      report: [DOMAIN_FILE, 'TS2322'],
    },
    {
      violation: 'a promise nobody waits for',
      part: 'lint',
      code: '\nexport function planted(): void {\n  Promise.resolve(1);\n}\n',
      report: [DOMAIN_FILE, 'no-floating-promises'],
    },
    {
      violation: 'a switch that forgets a case',
      part: 'lint',
      code: "\nexport function planted(x: 'a' | 'b'): void {\n  switch (x) {\n    case 'a':\n      break;\n  }\n}\n",
      report: [DOMAIN_FILE, 'switch-exhaustiveness-check'],
    },
    {
      violation: 'a type imported in place, which the boundaries cannot see',
      part: 'lint',
      code: "\nexport type Planted = import('node:fs').Stats;\n",
      report: [DOMAIN_FILE, 'consistent-type-imports'],
    },
    {
      violation: 'code that is not formatted',
      part: 'format',
      code: '\nexport const planted   =   "x"\n',
      report: [DOMAIN_FILE],
    },
  ])('$part reports $violation', ({ part, code, report }) => {
    planting(DOMAIN_FILE, code, () => {
      const { code: exitCode, output } = check(part);
      expect(exitCode).toBe(1);
      for (const text of report) expect(output).toContain(text);
    });
  });

  test('says that the boundary checker is blind when it misses the canary', () => {
    const canary = readFileSync(join(copy, CANARY_FILE), 'utf8');
    rmSync(join(copy, CANARY_FILE));
    try {
      const { code, output } = check('boundaries');
      expect(code).toBe(1);
      expect(output).toContain('the checker is blind: rule domain-is-pure');
    } finally {
      writeFileSync(join(copy, CANARY_FILE), canary);
    }
  });
});

function planting(file: string, code: string, run: () => void): void {
  const path = join(copy, file);
  const before = readFileSync(path, 'utf8');
  appendFileSync(path, code);
  try {
    run();
  } finally {
    writeFileSync(path, before);
  }
}

function check(...parts: string[]): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/check.mjs', ...parts], {
    cwd: copy,
    encoding: 'utf8',
  });
  return { code: status, output: stdout + stderr };
}
