/** What the bundles have in place of imports of Node's own modules. */

import type assertModule from 'node:assert';
import type { execFile as execFileFunction } from 'node:child_process';
import type pathModule from 'node:path';
import type { promisify as promisifyFunction } from 'node:util';

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

const transform = (code: string) => cheapBuiltins().transform(code, '/some/file.ts')?.code;

interface Given {
  readonly assert: typeof assertModule;
  readonly strictEqual: typeof assertModule.strictEqual;
  readonly execFile: typeof execFileFunction;
  readonly EOL: string;
  readonly path: typeof pathModule;
  readonly join: typeof pathModule.join;
  readonly promisify: typeof promisifyFunction;
}

function evaluate(): Given {
  const code = transform(source)
    ?.replaceAll(/^import .*$/gm, '')
    .replace('export const given =', 'return');
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-call -- the text is the one above
  return new Function(code ?? '')() as Given;
}

test('no import of a builtin is left; types and other imports stay, on the same lines', () => {
  const lines = transform(source)?.split('\n') ?? [];
  expect(lines.filter((line) => line.startsWith('import '))).toEqual([
    "import type { Stats } from 'node:fs';",
    "import { other } from './other.ts';",
  ]);
  expect(lines.map((line) => line.startsWith('export '))).toEqual(
    source.split('\n').map((line) => line.startsWith('export ')),
  );
});

test('functions, constants, whole modules and promisified functions work like imported ones', async () => {
  const { assert, strictEqual, execFile, EOL, path, join, promisify } = evaluate();
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
