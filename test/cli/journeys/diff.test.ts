/** `copse diff` for a person: colours, the pager and the diff tool. None of them comes from the repository's settings. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import {
  answer,
  copse,
  copseProcess,
  git,
  newArea,
  newRepository,
  newTasks,
  printed,
} from '../../support/cli.ts';
import { hasScript, onTerminal } from '../../support/terminal.ts';

const area = newArea();
let cwd: string;
let id: string;
/** The person's settings for all repositories. */
const settings = path.join(area, 'gitconfig');
const pwned = path.join(area, 'pwned');

beforeAll(async () => {
  cwd = newRepository(area);
  [{ id }] = await newTasks(['Change'], { cwd });
  const { worktree } = await answer<{ worktree: string }>(['work', id], { cwd });
  writeFileSync(path.join(worktree, 'new.txt'), '-- minus\n++ plus\n');
  writeFileSync(path.join(worktree, 'odd\nname'), 'x\n');
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: change');
  // An agent without a sandbox can write these.
  for (const [name, value] of [
    ['core.pager', `touch '${pwned}'`],
    ['pager.diff', `touch '${pwned}'`],
    ['diff.tool', 'evil'],
    ['difftool.evil.cmd', `touch '${pwned}'`],
    ['difftool.good.cmd', `touch '${pwned}'`],
    ['diff.external', `touch '${pwned}'`],
    ['difftool.prompt', 'false'],
  ] as const)
    git(cwd, 'config', name, value);
  writeFileSync(settings, '');
});

function configure(text: string): Record<string, string> {
  writeFileSync(settings, text);
  return { GIT_CONFIG_GLOBAL: settings };
}

describe('without a terminal', () => {
  test('the output is a patch that git applies, and the forms are lines', async () => {
    const patch = await printed(['diff', id], { cwd });
    expect(patch).toMatch(/^diff --git /);
    expect(patch).not.toContain('\u001b');
    const file = path.join(area, 'a.patch');
    writeFileSync(file, patch);
    git(cwd, 'apply', '--check', file);
    expect(await printed(['diff', id, '--name-only'], { cwd })).toBe('new.txt\n"odd\\nname"\n');
    expect(await printed(['diff', id, '--stat'], { cwd })).toContain('new.txt');
    expect(await copse(['diff', id, '--stat', '--name-only'], { cwd })).toMatchObject({ code: 2 });
  });

  test('no pager starts', async () => {
    const env = { GIT_PAGER: `touch '${pwned}'` };
    expect(await copseProcess(['diff', id], { cwd, env })).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(pwned)).toBe(false);
  });
});

describe.skipIf(!hasScript)('on a terminal', () => {
  const shownWith = (env: Record<string, string>) =>
    onTerminal(['diff', id], cwd, [], { TERM: 'xterm', ...env });
  const mark = (text: string) => `sed s/^/${text}:/`;

  // promise: personal-programs
  test('the pager is GIT_PAGER, core.pager of the person, PAGER; never that of the repository', async () => {
    const personal = configure(`[core]\n\tpager = ${mark('personal')}\n`);
    expect(await shownWith({ ...personal, GIT_PAGER: mark('git'), PAGER: mark('pager') })).toContain(
      'git:diff --git',
    );
    expect(await shownWith({ ...personal, PAGER: mark('pager') })).toContain('personal:diff --git');
    const none = configure('');
    expect(await shownWith({ ...none, PAGER: mark('pager') })).toContain('pager:diff --git');
    expect(await shownWith({ ...none, PAGER: 'cat' })).toContain('diff --git');
    expect(existsSync(pwned)).toBe(false);
  });

  test('lines have colours by what they are, not by how they begin', async () => {
    const screen = await shownWith({ ...configure(''), PAGER: 'cat', NO_COLOR: '', FORCE_COLOR: '1' });
    expect(screen).toContain('\u001b[32m+-- minus');
    expect(screen).toContain('\u001b[36m@@');
    expect(screen).toContain('\u001b[1m+++ b/new.txt');
    expect(await shownWith({ ...configure(''), PAGER: 'cat' })).not.toContain('\u001b[32m');
  });
});

describe('--tool', () => {
  test('opens the tool of the person’s settings for all repositories', async () => {
    const seen = path.join(area, 'seen');
    const env = configure(
      `[diff]\n\ttool = good\n[difftool "good"]\n\tcmd = cat \\"$LOCAL\\" \\"$REMOTE\\" >> '${seen}'\n[difftool]\n\tprompt = false\n`,
    );
    expect(await copseProcess(['diff', id, '--tool'], { cwd, env })).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(seen, 'utf8')).toContain('++ plus');
    expect(existsSync(pwned)).toBe(false);
  });

  // promise: personal-programs
  test('is not the one of the repository, and a session opens none', async () => {
    const env = configure('');
    expect(await copseProcess(['diff', id, '--tool'], { cwd, env })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('Your git settings name no diff tool.') as string,
    });
    for (const name of ['../x', '$(x)', '-x', ''])
      expect(await copse(['diff', id, `--tool=${name}`], { cwd })).toMatchObject({ code: 2 });
    const session = { COPSE_SESSION_ID: 's-1', COPSE_TASK_ID: id, COPSE_TOKEN: '1' };
    expect(await copse(['diff', id, '--tool', 'good'], { cwd, env: session })).toMatchObject({ code: 4 });
    expect(existsSync(pwned)).toBe(false);
  });
});

describe('an id', () => {
  test('is accepted as it is printed', async () => {
    const short = id.slice(3);
    for (const word of [
      id,
      `#${id}`,
      `#${short}`,
      id.toUpperCase(),
      `${id}:`,
      `(${id})`,
      `${short},`,
      ` ${id} `,
    ])
      expect({ word, is: await printed(['show', word, '--json'], { cwd }) }).toEqual({
        word,
        is: await printed(['show', id, '--json'], { cwd }),
      });
  });
});
