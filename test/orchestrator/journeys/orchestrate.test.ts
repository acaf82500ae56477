/** One run of the loop with everything that agents do to it, and what a user sees of each of them. */

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { answer, copse, git, newArea, newRepository, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene, processesOf } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

describe('a run', () => {
  let scene: Scene;
  let output: string;
  let ended: Awaited<ReturnType<typeof copse>>;
  let plan: readonly { readonly task: string; readonly start: boolean; readonly because?: string }[];
  const ids: Record<string, string> = {};
  const id = (title: string): string => ids[title] ?? expect.fail(`There is no task ${title}`);

  beforeAll(async () => {
    const note = (word: string) => [`echo "${word} $COPSE_TASK_ID" >> "$HOOK_NOTES"`];
    scene = newScene(area, {
      agents: {
        plain: {},
        solo: { capabilities: ['solo'], max: 1 },
        hasty: { capabilities: ['hasty'], limits: { time: '1500ms' } },
        hooked: {
          capabilities: ['hooked'],
          env: { HOOK_NOTES: path.join(area, 'hooks') },
          hooks: { before_run: note('before'), after_run: note('after'), on_error: note('error') },
        },
        unready: { capabilities: ['unready'], hooks: { before_run: ['echo no database; exit 7'] } },
      },
      policy: { max_retries: 2, max_agents: 4 },
    });
    const add = async (title: string, script: string, ...options: readonly string[]) => {
      ids[title] = await scene.add(title, script, ...options);
    };
    await Promise.all([
      add('area, outer', 'sleep 0.5; commit outer outer.txt', '--area', 'src/**', '--priority', 'p5'),
      add('area, inner', 'commit inner inner.txt', '--area', 'src/a/*.ts'),
      add('solo, one', 'note one; sleep 0.3; commit one one.txt; note end', '--requires', 'solo'),
      add('solo, two', 'note one; sleep 0.3; commit two two.txt; note end', '--requires', 'solo'),
      add('nobody can', 'commit x x.txt', '--requires', 'cobol'),
      add(
        'crashes once',
        'test -f half.txt && commit whole whole.txt && exit; echo half > half.txt; echo boom >&2; exit 3',
      ),
      add('hangs', 'trap "" TERM; while :; do sleep 0.1; done', '--requires', 'hasty'),
      add('forks', '(setsid sleep 977 > /dev/null 2>&1 &); commit forked f.txt'),
      add('escapes', 'echo sneaky > "$COPSE_REPO_ROOT/sneaky.txt"; commit own own.txt'),
      add(
        'is loud',
        'head -c 10000000 /dev/zero | tr "\\0" "x" | fold; echo; echo the end; commit loud loud.txt',
      ),
      add('has hooks', 'commit hooked hooked.txt', '--requires', 'hooked'),
      add('has hooks, fails', 'exit 9', '--requires', 'hooked'),
      add('is not made ready', 'commit y y.txt', '--requires', 'unready'),
      add(
        'writes no code',
        'note "in $(basename "$PWD")"; copse ledger add learning "It is so"; copse artifact add https://example.invalid/so',
        '--kind',
        'non-code',
      ),
    ]);
    await add('comes later', 'test -f outer.txt && commit later later.txt', '--depends', id('area, outer'));
    ({ plan } = await answer<{ plan: typeof plan }>(['up', '--dry-run'], scene.at));
    ended = await copse(['orchestrate', '--until-idle'], scene.at);
    output = ended.stdout;
  });

  test('says that tasks need a person, also where one is left that no agent can take', () => {
    expect(ended.code).toBe(5);
  });

  test('does what its plan says, and planning changes nothing', () => {
    expect(plan[0]).toEqual({ task: id('area, outer'), start: true, agent: 'plain' });
    const of = (title: string) => plan.find(({ task }) => task === id(title));
    expect(of('area, inner')).toMatchObject({
      start: false,
      because: `It waits for ${id('area, outer')}: their areas overlap (src/a/*.ts and src/**).`,
    });
    expect(of('nobody can')?.because).toContain('agent plain lacks cobol');
    expect(of('comes later')).toBeUndefined();
    expect(plan.filter(({ start }) => start)).toHaveLength(4);
  });

  test('ends every task with the status that fits its agent’s behaviour', async () => {
    const {
      'nobody can': waiting,
      hangs,
      'has hooks, fails': failing,
      'is not made ready': unready,
      ...others
    } = await scene.statuses();
    expect({ waiting, hangs, failing, unready }).toEqual({
      waiting: 'ready',
      hangs: 'failed',
      failing: 'failed',
      unready: 'failed',
    });
    expect(new Set(Object.values(others))).toEqual(new Set(['done']));
    expect(Object.keys(others)).toHaveLength(11);
  });

  // setting: agents.<name>.max
  test('runs tasks in the same area, or with a single agent, one after another', async () => {
    const events = await scene.events();
    const at = (type: string, title: string) =>
      events.findIndex((event) => event.type === type && event.id === id(title));
    expect(at('task.claimed', 'area, inner')).toBeGreaterThan(at('task.done', 'area, outer'));
    expect(at('task.claimed', 'comes later')).toBeGreaterThan(at('task.promoted', 'comes later'));
    const notes = readFileSync(scene.notes, 'utf8').split('\n');
    const solo = notes.filter((line) => line === 'one' || line === 'end');
    expect(solo).toEqual(['one', 'end', 'one', 'end']);
  });

  // promise: crash-loses-nothing
  test('reports a crash with the last output, keeps uncommitted work, and the retry continues from it', async () => {
    const crashed = id('crashes once');
    expect(output).toContain(`crashed     ${crashed} the agent program ended with exit code 3; retry in `);
    expect(scene.git('show', 'main:half.txt')).toBe('half');
    const shown = await printed(['show', crashed], scene.at);
    expect(shown).toContain('Its last output:\n          boom\n');
    expect(shown).toContain('Uncommitted files, still in the worktree:\n          half.txt\n');
    expect(scene.git('for-each-ref', '--format=%(refname)', `refs/copse/rescue/${crashed}`)).toContain(
      '-retry',
    );
    expect(await copse(['logs', crashed], scene.at)).toMatchObject({ code: 0, stdout: '' });
    expect(await printed(['logs', crashed, '--all'], scene.at)).toBe('boom\n');
  });

  // setting: agents.<name>.limits.time
  test('ends agents that time out, ignore signals, or leave processes behind', async () => {
    expect(await scene.why(id('hangs'))).toContain('it took longer than its limit of 2 s');
    expect(processesOf(area)).toEqual([]);
  });

  // promise: escape-reported
  test('reports a change of the main checkout and the possible agents, and names no worktree that is gone', async () => {
    expect(output).toContain('1 file of the main checkout changed while ');
    const why = await scene.why(id('escapes'));
    expect(why).toContain('      sneaky.txt\n');
    expect(why).not.toContain('copse rescue move');
    expect(scene.git('status', '--porcelain')).toBe('?? sneaky.txt');
  });

  test('keeps the whole output of an agent, and shows its end', async () => {
    const loud = id('is loud');
    expect((await printed(['logs', loud], scene.at)).split('\n').slice(-2)).toEqual(['the end', '']);
    expect(await printed(['logs', loud, '-n', '1'], scene.at)).toBe('the end\n');
    const { stdout } = await copse(['logs', loud, '--all'], scene.at);
    expect(stdout.length).toBeGreaterThan(10_000_000);
  });

  // setting: agents.<name>.hooks.before_run, agents.<name>.hooks.after_run, agents.<name>.hooks.on_error
  // setting: policy.max_retries
  test('runs the hooks around each attempt, and shows the output of a failed one', async () => {
    const [good, bad] = [id('has hooks'), id('has hooks, fails')];
    const hooks = readFileSync(path.join(area, 'hooks'), 'utf8').trimEnd().split('\n');
    expect(hooks.filter((line) => line.endsWith(good))).toEqual([`before ${good}`, `after ${good}`]);
    expect(hooks.filter((line) => line.endsWith(bad))).toEqual(
      [1, 2].flatMap(() => [`before ${bad}`, `error ${bad}`]),
    );
    const why = await scene.why(id('is not made ready'));
    expect(why).toContain('hook before_run failed (exit code 7): echo no database; exit 7.');
    expect(why).toContain('\n      no database\n');
  });

  test('runs work without code outside any worktree', async () => {
    const free = id('writes no code');
    expect(output).toContain(`done        ${free} finished, without code to land`);
    expect(existsSync(path.join(scene.folder, '.worktrees', free))).toBe(false);
    expect(await printed(['show', free], scene.at)).toContain('It is so');
  });

  test('leaves no attempt, no lock and no claim', async () => {
    const { running } = await answer<{ running: readonly unknown[] }>(['agents'], scene.at);
    expect(running).toEqual([]);
    expect(scene.git('fsck', '--no-dangling')).toBe('');
    expect(scene.git('for-each-ref', 'refs/copse/candidate')).toBe('');
  });
});

describe('two orchestrators, from a subfolder and from another worktree', () => {
  test('share the work and do each task once', async () => {
    const scene = newScene(area);
    const inside = path.join(scene.folder, 'sub folder');
    const beside = `${scene.folder} (beside)`;
    mkdirSync(inside);
    scene.git('worktree', 'add', '--quiet', '-b', 'mine', beside);
    const titles = ['one', 'two', 'three', 'four', 'five'];
    await Promise.all(titles.map((title) => scene.add(title, `commit ${title} ${title}.txt`)));
    const outputs = await Promise.all(
      [inside, beside].map((cwd) => printed(['up', '--until-idle', '--max-agents', '2'], { cwd })),
    );
    const landed = scene.subjects().filter((subject) => subject.startsWith('feat: '));
    expect(landed.toSorted()).toEqual(titles.map((title) => `feat: ${title}`).toSorted());
    const notes = outputs.flatMap((output) => output.split('\n')).filter((line) => line.includes(' note '));
    expect(notes).toEqual([]);
    expect(git(beside, 'status', '--porcelain')).toBe('');
  });
});

describe('options', () => {
  test('--max-retries applies to crashes that only the runner sees', async () => {
    const scene = newScene(area);
    const id = await scene.add('crashes', 'exit 3');
    expect(await scene.up('--max-retries', '1')).toContain(`failed      ${id} `);
    expect((await scene.tasks()).get(id)).toMatchObject({ status: 'failed', retries: 1 });
  });

  test('with invalid values are refused before anything starts', async () => {
    const at = { cwd: newRepository(area) };
    const cases = [
      [['--max-agents', '0'], '--max-agents must be a number of at least 1'],
      [['--max-retries', 'x'], '--max-retries must be a number of at least 0'],
      [['--poll-interval', 'soon'], '--poll-interval must be a time like 5s or 1m, not "soon"'],
      [['--once'], 'No agent is installed or configured.'],
    ] as const;
    for (const [options, message] of cases) {
      const { code, stderr } = await copse(['up', ...options], at);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    }
  });
});
