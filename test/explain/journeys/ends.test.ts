/** What a command prints last: what becomes of the task now, and the command to run next. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { asOrchestrator } from '../../../packages/copse/src/compose/board/who-runs.ts';
import { answer, copse, git, newArea, newRepository, printed } from '../../support/cli.ts';
import { startSession } from '../../support/records/sessions.ts';
import { newProject, openForTest } from '../../support/workspaces/workspaces.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

/** Every command that the text names after an arrow. */
function steps(text: string): readonly string[] {
  return [...text.matchAll(/→ (.+)/g)].map(([, step = '']) => step);
}

/** A task that a person has taken, with one commit; its worktree. */
async function taken(scene: Scene): Promise<{ readonly id: string; readonly cwd: string }> {
  const id = await scene.add('By hand', 'true');
  const { worktree: cwd } = await answer<{ worktree: string }>(['work', id], scene.at);
  writeFileSync(path.join(cwd, `${id}.txt`), 'x\n');
  git(cwd, 'add', '--all');
  git(cwd, 'commit', '--quiet', '--message=feat: x');
  return { id, cwd };
}

describe('who goes on', () => {
  test('finish: a person lands it, as long as no orchestrator runs', async () => {
    const scene = newScene(area);
    const { id, cwd } = await taken(scene);
    const said = await printed(['finish'], { cwd });
    expect(said).toContain('No orchestrator is running');
    expect(steps(said)).toEqual([`copse merge ${id}`, 'copse orchestrate']);
    expect(await scene.merge(id)).toContain(`Landed ${id}`);
  });

  test('finish and add: the orchestrator that runs', async () => {
    const scene = newScene(area);
    const { id, cwd } = await taken(scene);
    await asOrchestrator(scene.folder, async () => {
      const said = await printed(['finish'], { cwd });
      expect(said).toContain('A running orchestrator lands it.');
      expect(steps(said)).toEqual([`copse why ${id}`]);
      expect(await printed(['add', 'More'], scene.at)).toContain('A running orchestrator starts it');
    });
  });

  test('finish: a reviewer, where the settings ask for one', async () => {
    const scene = newScene(area, { sections: { landing: { policy: 'review' } } });
    const { id, cwd } = await taken(scene);
    expect(steps(await printed(['finish'], { cwd }))).toEqual([`copse review ${id}`]);
    const approved = await printed(['review', id, '--approve'], scene.at);
    expect(steps(approved)).toEqual([`copse merge ${id}`, 'copse orchestrate']);
  });

  test('add and edit: agents, or the person', async () => {
    const scene = newScene(area);
    const said = await printed(['add', 'First'], scene.at);
    const id = /cp-\w+/.exec(said)?.[0] ?? '';
    expect(steps(said)).toEqual(['copse orchestrate', `copse work ${id}`]);
    expect(steps(await printed(['edit', id, '--priority', 'p5'], scene.at))[0]).toBe('copse orchestrate');
    expect(steps(await printed(['add', 'Second', '--depends', id], scene.at))).toHaveLength(1);
  });

  test('an agent is told of no command that only a person may run', async () => {
    const project = await openForTest(newProject(path.join(area, 'project')));
    const { at } = await startSession(project, await project.addTask('Adds'));
    expect(await printed(['add', 'Another'], at)).toMatch(/^Added .*Another\n$/);
  });
});

describe('the next command', () => {
  test('of a stuck task is the whole answer', async () => {
    const scene = newScene(area);
    const { id, cwd } = await taken(scene);
    const restart = `copse restart ${id} --answer "…"`;
    expect(steps(await printed(['stuck', '--reason', 'Which?'], { cwd }))[0]).toBe(restart);
    expect(steps(await scene.why(id))[0]).toBe(restart);
    expect(await printed(['list'], scene.at)).toContain('Which?');
  });

  test('of work is finish', async () => {
    const scene = newScene(area);
    const id = await scene.add('By hand', 'true');
    const said = (await printed(['work', id], scene.at)).trimEnd().split('\n');
    expect(said.at(-1)).toContain('copse finish');
    const synced = await printed(['sync', id], scene.at);
    expect(steps(synced)).toEqual([`copse finish ${id}`]);
  });

  test('of pause and cancel can be run, also without an agent', async () => {
    const at = { cwd: newRepository(area) };
    const { id } = await answer<{ id: string }>(['add', 'Alone'], at);
    await answer(['work', id], at);
    expect(steps(await printed(['pause', id], at))).toEqual([
      `copse work ${id} --resume`,
      `copse resume ${id} --command "…"`,
      `copse cancel ${id}`,
    ]);
    expect(steps(await printed(['cancel', id], at))).toEqual([`copse cleanup ${id}`, `copse delete ${id}`]);
    const again = await copse(['restart', id], at);
    expect(again.stderr).toContain(`Cannot restart ${id}: it is cancelled`);
    expect(await printed(['cleanup', id], at)).toContain(`copse undo ${id}`);
    expect(steps(await printed(['undo', id], at))).toEqual([`copse cleanup ${id}`]);
  });

  test('of merge is undo', async () => {
    const scene = newScene(area);
    const { id, cwd } = await taken(scene);
    await printed(['finish'], { cwd });
    expect(steps(await scene.merge(id))).toEqual([`copse undo ${id}`]);
  });

  test('of init and config accept fits the machine and the repository', async () => {
    const cwd = path.join(area, 'new');
    git(area, 'init', '--quiet', '--initial-branch=main', cwd);
    const said = await printed(['init'], { cwd });
    expect(said).toContain('git commit');
    expect(said).toContain('copse agents detect');
    writeFileSync(path.join(cwd, 'copse.yml'), 'landing: { policy: review }\n');
    const accepted = await printed(['config', 'accept', '--yes'], { cwd });
    expect(accepted).not.toContain('running orchestrator');
    writeFileSync(path.join(cwd, 'copse.yml'), 'landing: { policy: auto }\n');
    await asOrchestrator(cwd, async () => {
      const again = await printed(['config', 'accept', '--yes'], { cwd });
      expect(again).toContain('keeps the settings that it started with');
    });
  });
});

describe('doctor', () => {
  interface Health {
    readonly checks: readonly {
      readonly name: string;
      readonly ok: boolean;
      readonly state: string;
      readonly found: string;
      readonly remedy: string | null;
    }[];
  }
  const health = async (cwd: string) => {
    const { code, stdout } = await copse(['doctor', '--json'], { cwd });
    const { checks } = JSON.parse(stdout) as Health;
    return { code, of: (name: string) => checks.findLast((check) => check.name === name) };
  };

  test('says that the repository has no commit, and how to make one', async () => {
    const cwd = path.join(area, 'unborn');
    git(area, 'init', '--quiet', '--initial-branch=main', cwd);
    const { code, of } = await health(cwd);
    expect({ code, ...of('commit') }).toMatchObject({
      code: 1,
      state: 'problem',
      found: 'the repository has no commit, so no worktree can be made',
      remedy: 'git commit --allow-empty --message="First commit"',
    });
    git(cwd, 'commit', '--quiet', '--allow-empty', '--message=First');
    expect((await health(cwd)).of('commit')).toMatchObject({ state: 'fine' });
  });

  test('says that no agent is installed, which is no fault', async () => {
    const { code, of } = await health(newRepository(area));
    expect({ code, ...of('agents') }).toMatchObject({
      code: 0,
      ok: true,
      state: 'missing',
      found: 'no agent is installed or configured: without one, you do the tasks yourself (copse work)',
      remedy: 'copse agents detect',
    });
  });

  test('says which configured agent cannot run here, and why', async () => {
    const cwd = newRepository(area);
    writeFileSync(
      path.join(cwd, 'copse.yml'),
      'agents: { mine: { command: "true" }, other: { runtime: acp } }\n',
    );
    const { code, of } = await health(cwd);
    expect({ code, ...of('agents') }).toMatchObject({ code: 1, state: 'problem' });
    expect(of('agents')?.found).toContain('The agent other has no command');
    expect(of('agents')?.remedy).toContain('copse config accept');
  });

  test('says which program of a command it does not find, and which it cannot check', async () => {
    const cwd = newRepository(area);
    const agents = { gone: '/no/such', lost: './no-such.sh -x', there: 'sh -c true', shell: '$PROGRAM' };
    const lines = Object.entries(agents).map(([name, command]) => `  ${name}: { command: "${command}" }\n`);
    writeFileSync(path.join(cwd, 'copse.yml'), `agents:\n${lines.join('')}`);
    const { code, stdout } = await copse(['doctor'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ agents +Agent gone needs the program \/no\/such, which does not exist.\n/);
    expect(stdout).toMatch(/✗ agents +Agent lost needs the program .\/no-such.sh, which does not exist.\n/);
    expect(stdout).toMatch(/✓ agents +there can run here\n/);
    expect(stdout).toMatch(/✓ agents +shell: .*not checked\n/);
  });

  test('puts no tick before what cannot be confined', async () => {
    const cwd = newRepository(area);
    const { stdout } = await copse(['doctor'], { cwd });
    const lines = stdout.split('\n').filter((line) => line.includes('agents cannot use'));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/^–/);
  });
});
