import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { furnishingGit } from '../../../packages/copse/src/workspaces/files/furnish-git.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { openContextFiles } from '../../../packages/copse/src/agents/files/context-files.ts';
import { writeInside } from '../../../packages/copse/src/workspaces/files/write-inside.ts';
import { type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import type { ContextPlace } from '../../../packages/copse/src/agents/ports/runners.ts';
import { git, newArea } from '../../support/cli.ts';
import { type Fixture, newFixture } from '../../support/workspaces/furnishing.ts';

const area = newArea();
/** Quoted as a name, so that no tool takes it for a package. */
const PIPE_MAKER = 'mkfifo';
const task = brand<TaskId>('cp-1');
const texts = { context: 'the context\n', facts: '{}\n', prompt: 'the prompt\n', instructions: 'how\n' };

const open = ({ root }: Fixture) =>
  openContextFiles({
    git: furnishingGit(openTrustedDir({ commonDir: path.join(root, '.git'), home: root })),
    gitDirOf: (worktree) => path.join(root, '.git', 'worktrees', path.basename(worktree)),
    home: root,
  });

const read = ({ root, file }: ContextPlace) => readFileSync(path.join(root, file), 'utf8');

/** Chooses, writes, and reads back what is at each place. */
async function writeAll(fixture: Fixture, worktree: string | null = fixture.worktree) {
  const files = open(fixture);
  const places = await files.choose(task, worktree);
  await files.write(places, texts);
  const { context, facts, prompt, instructions } = places;
  expect([context, facts, prompt, instructions].map(read)).toEqual(Object.values(texts));
  return places;
}

const USUAL = {
  context: 'AGENT_CONTEXT.md',
  facts: '.copse/session-context.json',
  prompt: '.copse/session-prompt.md',
  instructions: '.copse/shared/AGENT_INSTRUCTIONS.md',
  report: '.copse/session.json',
};

describe('the files of an agent', () => {
  test('are in its worktree, hidden from git, and shared ones in Copse’s folder', async () => {
    const fixture = newFixture(area, { tracked: { 'a.txt': 'a' } });
    await fixture.furnish();
    const { names, notes, instructions } = await writeAll(fixture);
    expect({ names, notes }).toEqual({ names: USUAL, notes: [] });
    expect(instructions.root).toBe(fixture.root);
    expect(readFileSync(path.join(fixture.worktree, names.instructions), 'utf8')).toBe(texts.instructions);
    expect(git(fixture.worktree, 'status', '--porcelain', '--untracked-files=all')).toBe('');
    expect(git(fixture.root, 'status', '--porcelain')).toBe('');
  });

  test('are replaced as a whole, and leave no temporary files', async () => {
    const fixture = newFixture(area, {});
    await fixture.furnish();
    await writeAll(fixture);
    writeFileSync(
      path.join(fixture.worktree, 'AGENT_CONTEXT.md'),
      `an old one, much longer ${'x'.repeat(999)}`,
    );
    await writeAll(fixture);
    expect(readdirSync(path.join(fixture.worktree, '.copse')).toSorted()).toEqual([
      'session-context.json',
      'session-prompt.md',
      'shared',
    ]);
    expect(readdirSync(fixture.worktree).toSorted()).toEqual(['.copse', '.git', 'AGENT_CONTEXT.md']);
  });

  test('are ignored by git in a worktree that Copse did not prepare', async () => {
    const fixture = newFixture(area, {});
    const { names } = await writeAll(fixture);
    // Without the link there is only one way to what all share.
    expect(names).toEqual({ ...USUAL, instructions: path.join(fixture.root, USUAL.instructions) });
    expect(git(fixture.worktree, 'status', '--porcelain', '--untracked-files=all')).toBe('');
  });

  test('of work without a worktree are in Copse’s folder, and nothing is written to the checkout', async () => {
    const fixture = newFixture(area, { tracked: { 'a.txt': 'a' } });
    const before = readdirSync(fixture.root).filter((name) => name !== '.copse');
    const { names, context } = await writeAll(fixture, null);
    expect(context).toEqual({ root: fixture.root, file: '.copse/context/cp-1/AGENT_CONTEXT.md' });
    expect(names.context).toBe(path.join(fixture.root, context.file));
    expect(names.report).toBeNull();
    expect(readdirSync(fixture.root).filter((name) => name !== '.copse')).toEqual(before);
  });
});

describe('a file that the repository tracks', () => {
  test('is left alone: the context is beside the other files, with a note', async () => {
    const fixture = newFixture(area, { tracked: { 'AGENT_CONTEXT.md': 'ours' } });
    await fixture.furnish();
    const { names, notes } = await writeAll(fixture);
    expect(names).toEqual({ ...USUAL, context: '.copse/AGENT_CONTEXT.md' });
    expect(notes).toEqual([
      'AGENT_CONTEXT.md cannot be written in this worktree; it is at .copse/AGENT_CONTEXT.md.',
    ]);
    expect(readFileSync(path.join(fixture.worktree, 'AGENT_CONTEXT.md'), 'utf8')).toBe('ours');
    expect(git(fixture.worktree, 'status', '--porcelain')).toBe('');
  });

  test('is left alone in Copse’s own folder too', async () => {
    const fixture = newFixture(area, { tracked: { '.copse/session-prompt.md': 'ours' } });
    await fixture.furnish();
    const { names, prompt } = await writeAll(fixture);
    expect(prompt.root).toBe(fixture.root);
    expect(names).toMatchObject({ context: USUAL.context, facts: USUAL.facts });
    expect(git(fixture.worktree, 'status', '--porcelain')).toBe('');
  });

  test('is respected even if it is missing: a name that the repository un-ignores would be committed', async () => {
    const fixture = newFixture(area, { tracked: { '.gitignore': '!AGENT_CONTEXT.md\n' } });
    await fixture.furnish();
    expect((await writeAll(fixture)).names.context).toBe('.copse/AGENT_CONTEXT.md');
    expect(git(fixture.worktree, 'status', '--porcelain', '--untracked-files=all')).toBe('');
  });
});

// promise: no-link-followed
describe('with links and files that an agent planted in its worktree', () => {
  /** Something outside that must stay as it is. */
  const victim = (name: string) => {
    const file = path.join(area, `victim ${name}`);
    writeFileSync(file, 'precious');
    return file;
  };

  test.each(['AGENT_CONTEXT.md', '.copse/session-context.json', '.copse/session-prompt.md'])(
    'a link at %s is replaced and not written through',
    async (name) => {
      const fixture = newFixture(area, {});
      await fixture.furnish();
      const outside = victim(path.basename(name));
      symlinkSync(outside, path.join(fixture.worktree, name));
      await writeAll(fixture);
      expect(readFileSync(outside, 'utf8')).toBe('precious');
      expect(lstatSync(path.join(fixture.worktree, name)).isFile()).toBe(true);
    },
  );

  test('a second name of a file outside is replaced and not written through', async () => {
    const fixture = newFixture(area, {});
    await fixture.furnish();
    const outside = victim('hard');
    linkSync(outside, path.join(fixture.worktree, 'AGENT_CONTEXT.md'));
    await writeAll(fixture);
    expect(readFileSync(outside, 'utf8')).toBe('precious');
  });

  test('a link instead of Copse’s folder in the worktree is not followed: the files go to Copse’s folder at home', async () => {
    const fixture = newFixture(area, {});
    await fixture.furnish();
    const outside = path.join(area, 'an empty folder');
    mkdirSync(outside);
    rmSync(path.join(fixture.worktree, '.copse'), { recursive: true });
    symlinkSync(outside, path.join(fixture.worktree, '.copse'));
    const { context, facts, prompt, names } = await writeAll(fixture);
    expect([context, facts, prompt].map(({ root }) => root)).toEqual(Array(3).fill(fixture.root));
    expect(names.report).toBeNull();
    expect(readdirSync(outside)).toEqual([]);
  });

  test('a folder called AGENT_CONTEXT.md is left as it is', async () => {
    const fixture = newFixture(area, {});
    await fixture.furnish();
    mkdirSync(path.join(fixture.worktree, 'AGENT_CONTEXT.md', 'deep'), { recursive: true });
    expect((await writeAll(fixture)).names.context).toBe('.copse/AGENT_CONTEXT.md');
    expect(existsSync(path.join(fixture.worktree, 'AGENT_CONTEXT.md', 'deep'))).toBe(true);
  });

  test('a pipe without a reader does not block the writing', async () => {
    const fixture = newFixture(area, {});
    await fixture.furnish();
    execFileSync(PIPE_MAKER, [path.join(fixture.worktree, 'AGENT_CONTEXT.md')]);
    expect((await writeAll(fixture)).names).toEqual(USUAL);
  });

  test('a link that appears after the path was chosen is refused', async () => {
    const fixture = newFixture(area, {});
    await fixture.furnish();
    const files = open(fixture);
    const places = await files.choose(task, fixture.worktree);
    const outside = path.join(area, 'another empty folder');
    mkdirSync(outside);
    rmSync(path.join(fixture.worktree, '.copse'), { recursive: true });
    symlinkSync(outside, path.join(fixture.worktree, '.copse'));
    await expect(files.write(places, texts)).rejects.toThrow('.copse is not a folder');
    expect(readdirSync(outside)).toEqual([]);
  });

  test('a worktree that became a link is refused', async () => {
    const fixture = newFixture(area, {});
    const elsewhere = path.join(area, 'moved away');
    renameSync(fixture.worktree, elsewhere);
    symlinkSync(elsewhere, fixture.worktree);
    const place = { root: fixture.worktree, file: 'AGENT_CONTEXT.md', scratch: '.copse' };
    await expect(writeInside(place, 'x')).rejects.toThrow('is not a folder');
    expect(readlinkSync(fixture.worktree)).toBe(elsewhere);
    expect(existsSync(path.join(elsewhere, 'AGENT_CONTEXT.md'))).toBe(false);
  });

  test('a path that leads outside is refused', async () => {
    const { worktree } = newFixture(area, {});
    const place = { root: worktree, file: '../outside.md', scratch: '.copse' };
    await expect(writeInside(place, 'x')).rejects.toThrow('leads outside');
  });
});

// promise: no-link-followed
test.runIf(process.platform === 'linux')(
  'folders that are replaced by links all the time never make a file appear elsewhere',
  async () => {
    const { worktree } = newFixture(area, {});
    const outside = path.join(area, 'a target of the race');
    const own = path.join(worktree, '.copse');
    mkdirSync(outside);
    const script = `const fs = require('node:fs'); const [own, outside] = process.argv.slice(1);
      const attempt = (step) => { try { step(); } catch {} };
      const wait = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      process.stdout.write('ready');
      for (;;) {
        attempt(() => fs.rmSync(own, { recursive: true, force: true }));
        attempt(() => fs.symlinkSync(outside, own));
        attempt(() => fs.unlinkSync(own));
        attempt(() => fs.mkdirSync(own));
        if (Math.random() < 0.3) wait();
      }`;
    const racer = spawn(process.execPath, ['-e', script, own, outside], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      await new Promise((resolve) => racer.stdout.once('data', resolve));
      let written = 0;
      for (let round = 0; round < 400; round += 1) {
        const place = { root: worktree, file: '.copse/session-prompt.md', scratch: '.copse' };
        // What is refused is refused; what is written is written inside.
        await writeInside(place, 'x').then(
          () => (written += 1),
          () => {},
        );
      }
      expect(written).toBeGreaterThan(0);
      expect(racer.exitCode).toBeNull();
      expect(readdirSync(outside)).toEqual([]);
    } finally {
      racer.kill('SIGKILL');
    }
  },
);
