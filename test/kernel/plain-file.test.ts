import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { inFolder } from '../../packages/copse/src/kernel/system/in-folder.ts';
import { readInside } from '../../packages/copse/src/workspaces/files/read-inside.ts';
import {
  copyPlainFile,
  readPlainFile,
  withPlainFile,
} from '../../packages/copse/src/kernel/system/plain-file.ts';
import { alone } from '../../packages/copse/src/kernel/system/alone.ts';
import { newArea } from '../support/cli.ts';

const area = newArea();
let folders = 0;

function newFolder(): string {
  folders += 1;
  const folder = path.join(area, String(folders), "wörk 'tree' 林");
  mkdirSync(folder, { recursive: true });
  return folder;
}

describe('a file that an agent may replace', () => {
  test('is read to its end, or up to a limit', () => {
    const file = path.join(newFolder(), 'text');
    writeFileSync(file, '12345');
    expect(readPlainFile(file, 6)).toEqual({ kind: 'plain', value: { text: '12345', isCut: false } });
    expect(readPlainFile(file, 5)).toEqual({ kind: 'plain', value: { text: '12345', isCut: false } });
    expect(readPlainFile(file, 4)).toEqual({ kind: 'plain', value: { text: '1234', isCut: true } });
  });

  test('may be empty', () => {
    const file = path.join(newFolder(), 'text');
    writeFileSync(file, '');
    expect(readPlainFile(file, 0)).toEqual({ kind: 'plain', value: { text: '', isCut: false } });
  });

  test('is the one that was opened, even if another file takes its name meanwhile', () => {
    const file = path.join(newFolder(), 'text');
    writeFileSync(file, 'before');
    const read = withPlainFile(Buffer.from(file), (opened, { size }) => {
      execFileSync('sh', ['-c', 'echo other > "$1.new" && mv "$1.new" "$1"', 'sh', file]);
      return { text: readFileSync(opened, 'utf8'), size };
    });
    expect(read).toEqual({ kind: 'plain', value: { text: 'before', size: 6 } });
  });

  test('is closed again, also when the work fails', () => {
    const file = path.join(newFolder(), 'text');
    writeFileSync(file, 'text');
    let used: number | undefined;
    const fail = () =>
      withPlainFile(file, (opened) => {
        used = opened;
        throw new Error('the work failed');
      });
    expect(fail).toThrow('the work failed');
    expect(() => readFileSync(used!)).toThrow('EBADF');
  });
});

describe('other kinds of files are not read:', () => {
  test('nothing, and a file in place of its folder', () => {
    const folder = newFolder();
    writeFileSync(path.join(folder, 'file'), '');
    expect(readPlainFile(path.join(folder, 'none'), 10)).toEqual({ kind: 'missing' });
    expect(readPlainFile(path.join(folder, 'file', 'none'), 10)).toEqual({ kind: 'missing' });
  });

  test('a link, to something or to nowhere', () => {
    const folder = newFolder();
    writeFileSync(path.join(folder, 'secret'), 'secret');
    symlinkSync('secret', path.join(folder, 'link'));
    symlinkSync('gone', path.join(folder, 'dangling'));
    expect(readPlainFile(path.join(folder, 'link'), 10)).toEqual({ kind: 'link' });
    expect(readPlainFile(path.join(folder, 'dangling'), 10)).toEqual({ kind: 'link' });
  });

  test('a folder, a pipe without a writer, a socket', async () => {
    const folder = newFolder();
    const pipe = path.join(folder, 'pipe');
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', pipe]);
    // The path of a socket may have about a hundred bytes.
    const socket = path.relative(process.cwd(), path.join(folder, '..', 's'));
    const server = createServer();
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    for (const place of [folder, pipe, socket]) expect(readPlainFile(place, 10)).toEqual({ kind: 'other' });
  });
});

describe('inside a folder that an agent can change', () => {
  test('a file is read, however deep it is, and also below a root that is a link', () => {
    const folder = newFolder();
    mkdirSync(path.join(folder, 'a', 'b'), { recursive: true });
    writeFileSync(path.join(folder, 'a', 'b', 'text'), 'text');
    writeFileSync(path.join(folder, 'top'), 'top');
    const link = path.join(newFolder(), 'link');
    symlinkSync(folder, link);
    for (const root of [folder, link]) {
      expect(readInside({ root, file: 'a/b/text' }, 3)).toEqual({ text: 'tex', isCut: true });
      expect(readInside({ root, file: 'top' }, 3)).toEqual({ text: 'top', isCut: false });
    }
  });

  test('no link is followed, neither at the end nor on the way', () => {
    const [root, outside] = [newFolder(), newFolder()];
    mkdirSync(path.join(root, 'a'));
    mkdirSync(path.join(outside, 'b'));
    writeFileSync(path.join(outside, 'b', 'text'), 'secret');
    symlinkSync(path.join(outside, 'b'), path.join(root, 'a', 'b'));
    symlinkSync(path.join(outside, 'b', 'text'), path.join(root, 'a', 'text'));
    symlinkSync(outside, path.join(root, 'c'));
    for (const file of ['a/b/text', 'a/text', 'c/b/text'])
      expect({ file, read: readInside({ root, file }, 10) }).toEqual({ file, read: undefined });
  });

  test('a missing file, or one below a file, is undefined', () => {
    const root = newFolder();
    writeFileSync(path.join(root, 'file'), '');
    for (const file of ['none', 'a/none', 'file/none', 'file/none/none'])
      expect({ file, read: readInside({ root, file }, 10) }).toEqual({ file, read: undefined });
  });

  test.runIf(process.platform === 'linux')(
    'work continues in the opened folder, even if another takes its name meanwhile',
    () => {
      const [root, outside] = [newFolder(), newFolder()];
      mkdirSync(path.join(root, 'a', 'b'), { recursive: true });
      inFolder(root, ['a', 'b'], (folder) => {
        renameSync(path.join(root, 'a'), path.join(root, 'aside'));
        mkdirSync(path.join(outside, 'b'));
        symlinkSync(outside, path.join(root, 'a'));
        writeFileSync(path.join(folder, 'text'), 'text');
      });
      expect(readdirSync(path.join(outside, 'b'))).toEqual([]);
      expect(readFileSync(path.join(root, 'aside', 'b', 'text'), 'utf8')).toBe('text');
    },
  );
});

describe('a copy of a file that an agent may replace', () => {
  const options = { mostBytes: 200_000, mode: 0o600 };

  test('has every byte, and replaces a longer file', () => {
    const folder = newFolder();
    const [from, to] = [path.join(folder, 'index'), path.join(folder, 'copy')];
    const content = Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 251));
    writeFileSync(from, content);
    expect(copyPlainFile(from, to, options)).toBe(true);
    expect(readFileSync(to).equals(content)).toBe(true);
    expect(statSync(to).mode & 0o777).toBe(0o600);
    writeFileSync(from, 'short');
    expect(copyPlainFile(from, to, options)).toBe(true);
    expect(readFileSync(to, 'utf8')).toBe('short');
  });

  test('is not made of a file that is missing, larger than allowed, a link or a pipe', () => {
    const folder = newFolder();
    const [from, to] = [path.join(folder, 'index'), path.join(folder, 'copy')];
    expect(copyPlainFile(from, to, options)).toBe(false);
    writeFileSync(from, Buffer.alloc(200_001));
    expect(() => copyPlainFile(from, to, options)).toThrow('larger than 200000 bytes');
    symlinkSync('index', path.join(folder, 'link'));
    expect(() => copyPlainFile(path.join(folder, 'link'), to, options)).toThrow('is a link');
    execFileSync('mkfifo', [path.join(folder, 'pipe')]);
    expect(() => copyPlainFile(path.join(folder, 'pipe'), to, options)).toThrow('is not a file');
    expect(existsSync(to)).toBe(false);
  });

  test.runIf(process.platform === 'linux')(
    'is not left over when the file has more bytes than its size says',
    () => {
      const to = path.join(newFolder(), 'copy');
      // Its size is 0.
      const copy = () => copyPlainFile('/proc/self/status', to, { ...options, mostBytes: 10 });
      expect(copy).toThrow('larger than 10 bytes');
      expect(existsSync(to)).toBe(false);
    },
  );
});

test('bytes get memory of their own, once', () => {
  const small = Buffer.from('small');
  const own = alone(small);
  expect(own.equals(small)).toBe(true);
  expect(own.buffer.byteLength).toBe(5);
  expect(alone(own)).toBe(own);
});
