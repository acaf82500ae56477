import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { findProgram, isProgram } from '../../packages/copse/src/kernel/system/find-program.ts';
import { newArea } from '../support/cli.ts';

const area = newArea();
let folders = 0;

function newFolder(name = "prögrams 'of' 林"): string {
  folders += 1;
  const folder = path.join(area, String(folders), name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function program(folder: string, name: string, { mode = 0o755 } = {}): string {
  const file = path.join(folder, name);
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, mode);
  return file;
}

const searching = (...places: readonly string[]) => ({ PATH: places.join(path.delimiter) });

describe('a program is found', () => {
  test('in the first folder of the PATH that has one', () => {
    const [first, second, third] = [newFolder(), newFolder(), newFolder()];
    program(third, 'agent');
    const found = program(second, 'agent');
    expect(findProgram('agent', searching(first, second, third))).toBe(found);
  });

  test('with any characters in its name and folder', () => {
    const folder = newFolder('a "b" $c\n林');
    const found = program(folder, "ägent 'x' 森");
    expect(findProgram("ägent 'x' 森", searching(folder))).toBe(found);
  });

  test('behind a link', () => {
    const [folder, elsewhere] = [newFolder(), newFolder()];
    const link = path.join(folder, 'agent');
    symlinkSync(program(elsewhere, 'agent-1.2'), link);
    expect(findProgram('agent', searching(folder))).toBe(link);
  });
});

describe('these are skipped, though a program of that name comes later:', () => {
  const wrong: readonly (readonly [string, (folder: string) => unknown])[] = [
    ['a file that may not be run', (folder) => program(folder, 'agent', { mode: 0o644 })],
    ['a folder of that name', (folder) => mkdirSync(path.join(folder, 'agent'))],
    ['a link to nowhere', (folder) => symlinkSync(path.join(folder, 'gone'), path.join(folder, 'agent'))],
    ['a folder that is a file', (folder) => program(path.dirname(folder), 'file')],
  ];
  test.each(wrong)('%s', (_, plant) => {
    const [first, second] = [newFolder(), newFolder()];
    plant(first);
    const found = program(second, 'agent');
    const file = path.join(path.dirname(first), 'file');
    expect(findProgram('agent', searching(file, first, second))).toBe(found);
    expect(findProgram('agent', searching(file, first))).toBeUndefined();
  });
});

// promise: programs-from-path
describe('a folder that depends on the current one is not searched:', () => {
  test('a relative one', () => {
    const folder = newFolder();
    program(folder, 'agent');
    const relative = path.relative(process.cwd(), folder);
    expect(isProgram(path.join(relative, 'agent')), 'it would be found there').toBe(true);
    expect(findProgram('agent', searching(relative))).toBeUndefined();
    expect(findProgram('agent', searching('.', relative, folder))).toBe(path.join(folder, 'agent'));
  });

  test('an empty one, which means the current folder', () => {
    const inCurrent = 'copse';
    expect(isProgram(inCurrent), 'the launcher is in the folder that tests run in').toBe(true);
    const folder = newFolder();
    for (const environment of [
      searching(''),
      searching('', folder),
      searching(folder, ''),
      searching('', '', folder),
    ])
      expect(findProgram(inCurrent, environment)).toBeUndefined();
  });
});

test('without a PATH there are no programs', () => {
  expect(findProgram('sh', {})).toBeUndefined();
  expect(findProgram('sh', { PATH: undefined })).toBeUndefined();
});
