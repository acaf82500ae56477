/** Tasks that no agent can take: why, the exit code of a run until idle, and agents that do not exist. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { type TaskDocument, answer, copse, newArea, newRepository } from '../../support/cli.ts';
import { newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();

describe('agents that are configured and cannot run', () => {
  function withUnusable(): { readonly cwd: string } {
    const cwd = newRepository(area);
    writeFileSync(
      path.join(cwd, 'copse.yml'),
      'agents: { ada: { runtime: acp }, bo: { runtime: command } }\n',
    );
    return { cwd };
  }

  test('are named by why, each with its reason', async () => {
    const at = withUnusable();
    const { id } = await answer<TaskDocument>(['add', 'One'], at);
    const { because } = await answer<{ because: readonly string[] }>(['why', id], at);
    expect(because[0]).toContain('the agent ada has no command');
    expect(because[0]).toContain('the agent bo has no command');
    expect(because[0]).not.toContain('no agent is configured');
    const { id: other } = await answer<TaskDocument>(['add', 'Two', '--agent', 'bo'], at);
    const second = await answer<{ because: readonly string[] }>(['why', other], at);
    expect(second.because[0]).toContain('the agent bo has no command');
    expect(second.because[0]).not.toContain('ada');
  });

  test('are not called missing by orchestrate', async () => {
    const at = withUnusable();
    await answer(['add', 'One'], at);
    const { code, stderr } = await copse(['orchestrate', '--until-idle'], at);
    expect(code).toBe(2);
    expect(stderr).toContain('None of the agents in copse.yml can run here.');
    expect(stderr).toContain('The agent ada has no command');
  });
});

describe('a run until idle', () => {
  test('fails when a ready task is left that no agent can take, and does the others', async () => {
    const scene = newScene(area);
    const done = await scene.add('can', 'commit can can.txt');
    const left = await scene.add('cannot', 'true', '--requires', 'gpu');
    const { code, stdout, stderr } = await copse(['orchestrate', '--until-idle'], scene.at);
    expect(code).toBe(4);
    expect(stdout).toContain(`ready ${left} cannot`);
    expect(stdout).toContain('No agent can take it: ');
    expect(stderr).toContain(`copse why ${left}`);
    expect((await scene.tasks()).get(done)?.status).toBe('done');
  });

  test('exits with 5 when a task needs a person, and says which command answers it', async () => {
    const scene = newScene(area);
    const id = await scene.add('asks', 'copse stuck --reason "Which?"');
    const { code, stdout, stderr } = await copse(['orchestrate', '--until-idle'], scene.at);
    expect({ code, stderr }).toEqual({ code: 5, stderr: `copse: ${id} needs you.\n  → copse status\n` });
    expect(stdout).toContain('Idle: ');
    expect(stdout).toContain(`    Its agent asks for a decision: Which?\n    → copse restart ${id}`);
  });

  test('succeeds when every task is done', async () => {
    const scene = newScene(area);
    await scene.add('can', 'commit can can.txt');
    expect((await copse(['orchestrate', '--until-idle'], scene.at)).code).toBe(0);
  });
});

describe('an agent that copse.yml does not have', () => {
  test('is refused with the nearest name, and nothing is added or changed', async () => {
    const scene = newScene(area, { agents: { planner: {}, coder: {} } });
    const { code, stderr } = await copse(['add', 'One', '--agent', 'codr'], scene.at);
    expect(code).toBe(2);
    expect(stderr).toContain('has no agent "codr". Did you mean coder? Agents: planner, coder.');
    expect(await scene.tasks()).toEqual(new Map());
    const id = await scene.add('Two', 'true');
    const edited = await copse(['edit', id, '--agent', 'ghost'], scene.at);
    expect(edited).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Agents: planner, coder.') as string,
    });
  });

  test('is accepted with a remark where copse.yml has no agents', async () => {
    const at = { cwd: newRepository(area) };
    const { code, stderr } = await copse(['add', 'One', '--agent', 'ghost'], at);
    expect(code).toBe(0);
    expect(stderr).toContain('No agent is called ghost so far');
    expect((await copse(['add', 'Two', '--agent', 'claude'], at)).stderr).toBe('');
  });
});
