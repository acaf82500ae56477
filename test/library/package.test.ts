/**
 * The packed package in a project of its own, which has no zod: its declarations are whole, and their types are those of the
 * registry. For `npm run test:faults`, because the declarations take the compiler half a minute of a busy machine.
 */

import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { projectRoot } from '../guards/working-copy.ts';
import { newArea, newRepository, plainEnv } from '../support/cli.ts';
import { newForeignProject, runProgram } from '../support/library/guide-programs.ts';

const area = newArea();
const { folder, modules } = newForeignProject(area);
const types = path.join(projectRoot, 'packages', 'copse', 'dist', 'types');

function run(cwd: string, file: string, ...argv: readonly string[]) {
  const env = {
    ...process.env,
    ...plainEnv,
    PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
  };
  const { status, stdout, stderr } = spawnSync(file, argv, { cwd, env, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

function mustRun(cwd: string, file: string, ...argv: readonly string[]): void {
  const { status, output } = run(cwd, file, ...argv);
  if (status !== 0) throw new Error(output);
}

const bin = (name: string) => path.join(projectRoot, 'node_modules', '.bin', name);

beforeAll(() => {
  mustRun(projectRoot, process.execPath, 'scripts/library/types.ts');
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', area];
  mustRun(path.join(projectRoot, 'packages', 'copse'), 'npm', ...pack);
  mkdirSync(path.join(modules, 'copse'));
  const [packed = ''] = globSync('copse-*.tgz', { cwd: area });
  const unpack = ['xzf', path.join(area, packed), '--strip-components=1', '-C', path.join(modules, 'copse')];
  mustRun(area, 'tar', ...unpack);
  mkdirSync(path.join(modules, '@types'));
  symlinkSync(path.join(projectRoot, 'node_modules/@types/node'), path.join(modules, '@types/node'));
  symlinkSync(path.join(projectRoot, 'node_modules/undici-types'), path.join(modules, 'undici-types'));
});

const strict = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    types: ['node'],
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
  },
  include: ['*.ts'],
};

test('the programs of the guide have no type error, and no declaration is missing', () => {
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(strict));
  const wrong = `
    import { open } from 'copse';
    const copse = await open({ folder: '.' });
    // @ts-expect-error: a task is a text
    await copse.task.pause({ task: 7 });
    // @ts-expect-error: it needs a task
    await copse.task.pause();
    // @ts-expect-error: there is no such field
    await copse.task.list({ folder: '.' });
    // @ts-expect-error: there is no such status
    await copse.task.list({ status: ['finished'] });
    const { status } = await copse.task.show({ task: 'cp-1' });
    // @ts-expect-error: it is none of a task's statuses
    console.log(status === 'finished');
    for await (const event of copse.events()) {
      // @ts-expect-error: no event is called so
      console.log(event.type === 'task.finished');
    }
  `;
  writeFileSync(path.join(folder, 'wrong.ts'), wrong);
  expect(run(folder, bin('tsc'), '--pretty', 'false')).toEqual({ status: 0, output: '' });
});

test('the declarations have exactly the types of the registry', () => {
  const config = {
    extends: path.join(projectRoot, 'tsconfig.json'),
    files: [path.join(folder, 'compare.ts')],
    include: [],
  };
  writeFileSync(
    path.join(folder, 'compare.ts'),
    `
    import type { Operations as Written } from ${JSON.stringify(path.join(types, 'library/operations.d.ts'))};
    import type { Operations as Derived } from ${JSON.stringify(path.join(projectRoot, 'packages/copse/src/library/operations.ts'))};
    type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
    type Different = {
      [G in keyof Derived | keyof Written]: G extends keyof Derived & keyof Written
        ? { [M in keyof Derived[G] | keyof Written[G]]: M extends keyof Derived[G] & keyof Written[G]
            ? Same<Derived[G][M], Written[G][M]> extends true ? never : [G, M]
            : [G, M] }[keyof Derived[G] | keyof Written[G]]
        : G;
    }[keyof Derived | keyof Written];
    export const none: Same<Different, never> = true;
    `,
  );
  writeFileSync(path.join(folder, 'tsconfig.compare.json'), JSON.stringify(config));
  const compared = run(folder, bin('tsc'), '--pretty', 'false', '-p', 'tsconfig.compare.json');
  expect(compared).toEqual({ status: 0, output: '' });
});

test('the packed package runs', async () => {
  const { code, stdout, stderr } = await runProgram(folder, ['report.ts', newRepository(area)]);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '0 ready, 0 working, 0 done\n', stderr: '' });
});
