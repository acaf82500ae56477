/** What the bundles have in place of imports of Node's own modules. */

import type assert from 'node:assert';
import type { execFile } from 'node:child_process';
import type path from 'node:path';
import type { promisify } from 'node:util';

import { expect, test } from 'vitest';

import { cheapBuiltins } from '../../scripts/build-builtins.mjs';

const source = `import assert, { strictEqual } from 'node:assert';
import {
  type ChildProcess,
  execFile,
} from 'node:child_process';
import type { Stats } from 'node:fs';
import { EOL } from 'node:os';
import path, { join } from 'node:path';
import { promisify } from 'node:util';
import { other } from './other.ts';
export const given = { assert, strictEqual, execFile, EOL, path, join, promisify };
`;

interface Given {
  readonly assert: typeof assert;
  readonly strictEqual: (one: unknown, other: unknown) => void;
  readonly execFile: typeof execFile;
  readonly EOL: string;
  readonly path: typeof path;
  readonly join: typeof path.join;
  readonly promisify: typeof promisify;
}

const transform = (code: string) => cheapBuiltins().transform(code, '/some/file.ts')?.code;

async function evaluate() {
  const code = transform(source)
    ?.replace(/^import .*$/gm, '')
    .replace('export const given =', 'return');
  // oxlint-disable-next-line typescript/no-implied-eval -- the text is the one above
  const run = new Function(code ?? '') as () => Given;
  return run();
}

test('no import of a builtin is left, types and other imports stay as they are, on the lines where they were', () => {
  const lines = transform(source)?.split('\n') ?? [];
  expect(lines.filter((line) => line.startsWith('import '))).toEqual([
    "import type { Stats } from 'node:fs';",
    "import { other } from './other.ts';",
  ]);
  expect(lines.map((line) => line.startsWith('export '))).toEqual(
    source.split('\n').map((line) => line.startsWith('export ')),
  );
});

test('functions, constants, whole modules and promisified functions work as imported ones do', async () => {
  const { assert, strictEqual, execFile, EOL, path, join, promisify } = await evaluate();
  expect(() => assert(false, 'wrong')).toThrow('wrong');
  expect(() => assert.equal(1, 2)).toThrow('1 == 2');
  expect(() => strictEqual(1, 2)).toThrow('strictly equal');
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', 'console.log("said")']);
  expect(stdout).toBe(`said${EOL}`);
  expect(path.join('a', 'b')).toBe(join('a', 'b'));
});

test('a file without such imports is left alone', () => {
  expect(transform("import { other } from './other.ts';\n")).toBeUndefined();
});
