/** Work without code: its results are artifacts, and an import brings them into the repository. */

import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { answer, copse, git, newArea } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

interface Listed {
  readonly id: string;
  readonly task: string;
  readonly kind: string;
  readonly address: string;
  readonly title: string | null;
  readonly content?: { readonly name: string; readonly bytes: number; readonly sha256: string };
  readonly session?: string | null;
}

describe('agents that write no code', () => {
  let scene: Scene;
  const ids: Record<string, string> = {};
  const id = (title: string): string => ids[title] ?? expect.fail(`There is no task ${title}`);
  const artifactsOf = async (title: string) =>
    (await answer<{ artifacts: readonly Listed[] }>(['artifact', 'list', id(title)], scene.at)).artifacts;
  const notes = () => readFileSync(scene.notes, 'utf8');

  beforeAll(async () => {
    scene = newScene(area, { policy: { max_agents: 4, handbacks: { no_artifact: 1, not_imported: 2 } } });
    const add = async (title: string, script: string, ...options: readonly string[]) => {
      ids[title] = await scene.add(title, script, ...options);
    };
    const said = 'say() { note "$1: $(copse artifact add "$2" 2>&1 | head -1)"; }; cd "$COPSE_RUNNER_FOLDER"';
    await add(
      'Draws',
      `${said}; printf 'a\\0picture' > plot.png; ln -s /etc/passwd link.txt; mkfifo pipe; ln -s / root
       say link link.txt; say out ../../../README.md; say way root/etc/passwd; say pipe pipe; say all /etc/passwd
       say file plot.png; say again plot.png; say uri https://example.invalid/plot; say secret https://me:pw@example.invalid/`,
      '--kind',
      'non-code',
    );
    const report = {
      status: 'finished',
      artifacts: [
        { file: 'deep/report.txt', title: 'What was found' },
        { file: '../../node' },
        { file: '/etc/passwd' },
        { file: 'x'.repeat(5_000) },
        { uri: 'not a uri' },
        { uri: 's3://bucket/key' },
        'nonsense',
      ],
    };
    await add(
      'Writes the file',
      `cd "$COPSE_RUNNER_FOLDER"; mkdir -p deep .copse; echo found > deep/report.txt
       echo '${JSON.stringify(report)}' > .copse/session.json`,
      '--kind',
      'non-code',
    );
    await add(
      'Adds nothing',
      'note "prompt: $(grep -q "has no artifact" "$COPSE_RUNNER_FOLDER/session-prompt.md" && echo true || echo false)"',
      '--kind',
      'non-code',
    );
    await add(
      'Reports and finishes',
      `cd "$COPSE_RUNNER_FOLDER"; mkdir -p .copse; echo '{"artifacts":[{"uri":"urn:a:b"}]}' > .copse/session.json
       note "finish: $(copse finish 2>&1 | head -1)"`,
      '--kind',
      'non-code',
    );
    await add('Has nothing to do', 'copse finish --no-changes', '--kind', 'non-code');
    await add(
      'Adds to another',
      `${said}; note "other: $(copse artifact add https://example.invalid/x --task ${id('Draws')} 2>&1 | head -1)"; copse finish --no-changes`,
      '--kind',
      'non-code',
    );
    await add(
      'Imports',
      `note "import: $(find .copse/import -type f | head -1 | sed 's/.*\\///')"
       if was_told "files to import"; then mkdir -p img; cp .copse/import/*/plot.png img/p.png; git add --all; git commit --quiet --message="feat: plot"
       else commit "something else" other.txt; fi`,
      '--from',
      id('Draws'),
    );
    await scene.up();
  });

  test('finish with the artifacts that they added, by command and by report', async () => {
    expect(await scene.statuses()).toEqual({
      Draws: 'done',
      'Writes the file': 'done',
      'Adds nothing': 'needs_attention',
      'Reports and finishes': 'done',
      'Has nothing to do': 'done',
      'Adds to another': 'done',
      Imports: 'done',
    });
    expect(await artifactsOf('Draws')).toMatchObject([
      {
        kind: 'file',
        content: { name: 'plot.png', bytes: 9 },
        session: expect.stringMatching(/^se-/) as string,
      },
      { kind: 'uri', address: 'https://example.invalid/plot' },
    ]);
    expect(await artifactsOf('Writes the file')).toMatchObject([
      { kind: 'file', title: 'What was found', content: { name: 'report.txt', bytes: 6 } },
      { kind: 'uri', address: 's3://bucket/key' },
    ]);
  });

  test('are handed back once without an artifact, and then need a person', async () => {
    expect(notes().match(/^prompt: .*$/gm)).toEqual(['prompt: false', 'prompt: true']);
    const { reason } = (await scene.tasks()).get(id('Adds nothing')) ?? expect.fail();
    expect(reason).toContain(`${id('Adds nothing')} has no artifact`);
    const why = await scene.why(id('Adds nothing'));
    expect(why).toContain('added no artifact');
    expect(why).toContain('--no-changes');
    expect(why).not.toContain('copse merge');
  });

  // promise: artifacts-of-own-folder
  test('can add only regular files in a folder of their own, to their own task', () => {
    const line = (name: string) =>
      notes()
        .split('\n')
        .find((one) => one.startsWith(`${name}: `)) ?? '';
    expect(line('link')).toContain('It is a symbolic link');
    expect(line('out')).toContain('in none of the folders of the task');
    expect(line('way')).toContain('It is a symbolic link');
    expect(line('pipe')).toContain('It is not a regular file');
    expect(line('all')).toContain('in none of the folders of the task');
    expect(line('secret')).toContain('contains a password');
    const [, first] = /Added (ar-\w+)/.exec(line('file')) ?? [];
    expect(line('again')).toContain(first ?? 'an id');
    expect(line('other')).toContain(`cannot report about ${id('Draws')}`);
  });

  test('may use the report for artifacts and the command to finish', () => {
    expect(notes()).toContain(`finish: Reported ${id('Reports and finishes')} as finished`);
  });

  test('import the unchanged content, or hear that it is missing', async () => {
    expect(notes().match(/^import: plot\.png$/gm)).toHaveLength(2);
    expect(git(scene.folder, 'show', 'main:img/p.png')).toBe('a\0picture');
    const events = (await scene.events()).filter((one) => one.id === id('Imports'));
    expect(events.filter(({ type }) => type === 'task.handed_back')).toMatchObject([
      { data: { because: 'not_imported', reason: expect.stringContaining('plot.png') as string } },
    ]);
  });

  test('what landed is an artifact of its task', async () => {
    const landed = (await artifactsOf('Imports')).filter(({ title }) => title === 'what landed');
    expect(landed.map(({ address }) => address)).toEqual([git(scene.folder, 'rev-parse', 'main')]);
  });

  describe('a person', () => {
    const file = async () => (await artifactsOf('Draws'))[0] ?? expect.fail();

    test('gets the content, and replaces no file without being told', async () => {
      const { id: artifact } = await file();
      const place = path.join(area, 'got ü.png');
      expect(await copse(['artifact', 'get', artifact, place], scene.at)).toMatchObject({
        code: 0,
        stdout: '',
      });
      expect(readFileSync(place, 'latin1')).toBe('a\0picture');
      writeFileSync(place, 'mine');
      const again = await copse(['artifact', 'get', artifact.slice(0, 6), place], scene.at);
      expect(again).toMatchObject({ code: 4, stderr: expect.stringContaining('--force') as string });
      expect(readFileSync(place, 'utf8')).toBe('mine');
      await copse(['artifact', 'get', artifact, place, '--force'], scene.at);
      expect(readFileSync(place, 'latin1')).toBe('a\0picture');
      expect(readdirSync(area).filter((name) => name.includes('partial'))).toEqual([]);
    });

    test('gets it on standard output, but no control characters on a terminal', async () => {
      const { id: artifact } = await file();
      expect((await copse(['artifact', 'get', artifact], scene.at)).stdout).toBe('a\0picture');
      const terminal = { ...scene.at, terminal: { columns: 80, rows: 24 } };
      expect(await copse(['artifact', 'get', artifact], terminal)).toMatchObject({ code: 4, stdout: '' });
    });

    test('sees what it is, and on which machine', async () => {
      const { id: artifact, content } = await file();
      const { stdout } = await copse(['artifact', 'show', artifact], scene.at);
      expect(stdout).toContain(content?.sha256);
      expect(stdout).toMatch(/on this machine, unchanged/);
      const elsewhere = path.join(area, 'elsewhere');
      git(area, 'clone', '--quiet', scene.folder, elsewhere);
      const exported = await copse(['export'], scene.at);
      expect(exported.stderr).toContain('The export has 2 artifacts without the content');
      const at = { cwd: elsewhere };
      expect(await copse(['import', '-'], { ...at, stdin: exported.stdout })).toMatchObject({ code: 0 });
      const got = await copse(['artifact', 'get', artifact], at);
      expect(got).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(/is on the machine \S+ \(n-\w+\)/) as string,
      });
    });

    test('is told of content that was changed', async () => {
      const { id: artifact, content } = (await artifactsOf('Writes the file'))[0] ?? expect.fail();
      const kept = path.join(scene.folder, '.copse/artifacts', id('Writes the file'), content?.sha256 ?? '');
      expect(existsSync(kept)).toBe(true);
      writeFileSync(kept, 'fount\n');
      const got = await copse(['artifact', 'get', artifact], scene.at);
      expect(got).toMatchObject({
        code: 3,
        stdout: '',
        stderr: expect.stringContaining('was changed') as string,
      });
    });

    test('keeps the files that an open import needs, even of a deleted task', async () => {
      const source = id('Writes the file');
      const { id: importing } = await answer<{ id: string }>(['add', 'Later', '--from', source], scene.at);
      await copse(['delete', source, '--unlink', '--yes'], scene.at);
      const dry = await copse(['sweep', '--dry-run', '--verbose'], scene.at);
      expect(dry.stdout).toMatch(new RegExp(`artifacts/${source} .*stays: ${importing} imports it`));
      await copse(['cancel', importing], scene.at);
      expect((await copse(['sweep', '--dry-run', '--verbose'], scene.at)).stdout).not.toContain('imports it');
    });

    test('by hand, finishes work without code only with an artifact', async () => {
      const { id: task } = await answer<{ id: string }>(['add', 'By hand', '--kind', 'non-code'], scene.at);
      await copse(['work', task], scene.at);
      const refused = await copse(['finish', task], scene.at);
      expect(refused).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('has no artifact') as string,
      });
      await answer(['artifact', 'add', 'urn:by:hand', '--task', task], scene.at);
      expect(await copse(['finish', task], scene.at)).toMatchObject({ code: 0 });
    });

    test('imports only what can be imported', async () => {
      const [commit] = await artifactsOf('Imports');
      const of = (...words: readonly string[]) => copse(['add', 'x', ...words], scene.at);
      expect(await of('--from', commit?.id ?? '')).toMatchObject({ code: 2 });
      expect(await of('--from', id('Has nothing to do'))).toMatchObject({ code: 2 });
      expect(await of('--kind', 'import')).toMatchObject({ code: 2 });
      expect(await of('--kind', 'code', '--from', id('Draws'))).toMatchObject({ code: 2 });
    });
  });
});
