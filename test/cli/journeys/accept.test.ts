/** Accepting what the repository's files decide, at a terminal. */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import {
  type TaskDocument,
  answer,
  copse,
  copseProcess,
  git,
  newArea,
  newRepository,
  printed,
} from '../../support/cli.ts';
import { ENTER, hasScript, onTerminal } from '../../support/terminal.ts';

const area = newArea();

function withSetup(): { readonly cwd: string; readonly mark: string } {
  const cwd = newRepository(area);
  const mark = path.join(area, `mark ${path.basename(cwd)}`);
  const text = JSON.stringify({ scripts: { setup: `touch '${mark}'` } });
  writeFileSync(path.join(cwd, 'conductor.json'), text);
  return { cwd, mark };
}

async function work(cwd: string): Promise<void> {
  const { stdout } = await copse(['add', 'One', '--json'], { cwd });
  const { id } = JSON.parse(stdout) as TaskDocument;
  expect((await copse(['work', id], { cwd })).code).toBe(0);
}

describe.runIf(hasScript)('at a terminal', () => {
  test('the first command names the files that it accepts, in one line', async () => {
    const { cwd } = withSetup();
    const screen = await onTerminal(['list'], cwd, []);
    expect(screen).toContain('First use here: Copse accepted conductor.json.');
    expect(await onTerminal(['list'], cwd, [])).not.toContain('First use');
  });

  test('config accept shows the change and asks: no by default', async () => {
    const { cwd } = withSetup();
    await answer(['list'], { cwd });
    writeFileSync(path.join(cwd, 'copse.yml'), 'policy: { max_agents: 2 }\n');
    const refused = await onTerminal(['config', 'accept'], cwd, [['Use copse.yml as shown?', ENTER]]);
    expect(refused).toContain('+ policy: { max_agents: 2 }');
    expect(refused).toContain('Not accepted');
    expect((await copse(['list'], { cwd })).stderr).toContain('copse.yml is new');
    const agreed = await onTerminal(['config', 'accept'], cwd, [['Use copse.yml as shown?', 'y']]);
    expect(agreed).toContain('Accepted copse.yml.');
    expect((await copse(['list'], { cwd })).stderr).toBe('');
  });

  test('work asks about a pending change before it uses it', async () => {
    const { cwd, mark } = withSetup();
    const { id } = await answer<TaskDocument>(['add', 'One'], { cwd });
    const marked = `${mark} second`;
    writeFileSync(
      path.join(cwd, 'copse.yml'),
      JSON.stringify({ workspace: { setup: [`touch '${marked}'`] } }),
    );
    await onTerminal(['work', id], cwd, [['Use copse.yml as shown?', 'y']]);
    expect([existsSync(mark), existsSync(marked)]).toEqual([false, true]);
  });

  test('init asks once about all files, and after a no Copse uses none of them', async () => {
    const { cwd, mark } = withSetup();
    const screen = await onTerminal(['init'], cwd, [['Use these files?', ENTER]]);
    expect(screen).toContain('conductor.json (set-up and teardown commands): new');
    await work(cwd);
    expect(existsSync(mark)).toBe(false);
    expect((await copse(['list'], { cwd })).stderr).toContain('conductor.json is new');
  });

  test('init with a yes accepts them', async () => {
    const { cwd, mark } = withSetup();
    await onTerminal(['init'], cwd, [['Use these files?', 'y']]);
    await work(cwd);
    expect(existsSync(mark)).toBe(true);
  });
});

test('without a copse.yml there is nothing to accept, and one that was deleted counts until that is accepted', async () => {
  const cwd = newRepository(area);
  for (const command of ['accept', 'pending'])
    expect(await printed(['config', command], { cwd })).toBe('There is no copse.yml: nothing to accept.\n');
  const file = path.join(cwd, 'copse.yml');
  writeFileSync(file, 'policy: { max_agents: 2 }\n');
  await copse(['config', 'accept', '--yes'], { cwd });
  expect(await printed(['config', 'pending'], { cwd })).toBe('Nothing changed since you accepted it.\n');
  rmSync(file);
  const checked = await copse(['config', 'check'], { cwd });
  expect(checked.stdout).toBe('There is no copse.yml.\n');
  expect(checked.stderr).toBe(
    'copse.yml was deleted; Copse still uses the accepted version.\n    To use the defaults:\n  → copse config accept\n',
  );
  await copse(['config', 'accept', '--yes'], { cwd });
  expect(await printed(['config', 'check'], { cwd })).toBe('There is no copse.yml: the defaults apply.\n');
});

test('config check in a worktree names the copse.yml there, if it differs', async () => {
  const cwd = newRepository(area);
  writeFileSync(path.join(cwd, 'copse.yml'), 'policy: { max_agents: 2 }\n');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '--quiet', '--message=Settings');
  const steps = await printed([], { cwd });
  expect(steps).toContain('copse config ');
  expect(steps).not.toContain('copse init');
  const { id } = await answer<TaskDocument>(['add', 'One'], { cwd });
  const { worktree } = await answer<{ worktree: string }>(['work', id], { cwd });
  const check = () => copse(['config', 'check'], { cwd: worktree });
  expect(await check()).toMatchObject({ code: 0, stdout: 'copse.yml is valid.\n' });
  const file = path.join(worktree, 'copse.yml');
  writeFileSync(file, 'policy: { max_agents: 3 }\n');
  expect(await check()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('The copse.yml of this worktree differs, and is valid too.') as string,
  });
  writeFileSync(file, 'policy: { max_agents: 3 }\nfoo: [\n');
  const { code, stderr } = await check();
  expect(code).not.toBe(0);
  expect(stderr).toContain(
    'copse: The copse.yml of the main checkout is valid. The copse.yml of this worktree differs, and has mistakes:\ncopse.yml:3:1: ',
  );
});

describe('the accepted copse.yml', () => {
  const record = (cwd: string) => path.join(cwd, '.git', 'copse', 'accepted.json');
  /** Only the built program reads settings by their shape. */
  const most = async (cwd: string) => {
    const { stdout } = await copseProcess(['agents', '--json'], { cwd });
    return (JSON.parse(stdout) as { agents: { max: number }[] }).agents.map(({ max }) => max);
  };
  const withMost = (max: number) => `agents: { a: { command: 'true', max: ${max} } }\n`;

  test('is kept with what it says, and a text that is put into the record by hand counts', async () => {
    const cwd = newRepository(area);
    writeFileSync(path.join(cwd, 'copse.yml'), withMost(2));
    await answer(['list'], { cwd });
    const kept = JSON.parse(readFileSync(record(cwd), 'utf8')) as { files: object; config: object };
    expect(kept.config).toEqual({
      text: withMost(2),
      value: { agents: { a: { command: 'true', max: 2 } } },
    });
    expect(await most(cwd)).toEqual([2]);
    const files = { ...kept.files, 'copse.yml': withMost(3) };
    writeFileSync(record(cwd), JSON.stringify({ ...kept, files }));
    expect(await most(cwd)).toEqual([3]);
  });
});
