/** `why`, `status` and `add` say the same about a ready task: when it starts, or the command that lets it start. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { asOrchestrator } from '../../../packages/copse/src/compose/board/who-runs.ts';
import { answer, newArea, newTasks, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

interface Why {
  readonly because: readonly string[];
  readonly next: readonly string[];
}

interface Status {
  readonly ready: readonly { readonly task: string; readonly why: string }[];
  readonly needsYou: readonly { readonly task: string; readonly reason: string; readonly command: string }[];
}

const why = (scene: Scene, id: string) => answer<Why>(['why', id], scene.at);

async function statusOf(scene: Scene, id: string): Promise<string> {
  const { ready } = await answer<Status>(['status'], scene.at);
  return ready.find(({ task }) => task === id)?.why ?? '';
}

test('without an orchestrator, why says so, and how to start one', async () => {
  const scene = newScene(area);
  const id = await scene.add('one', 'true');
  const { because, next } = await why(scene, id);
  expect(because).toEqual(['It is ready. It starts with plain as soon as an orchestrator runs here.']);
  expect(next[0]).toBe('copse orchestrate');
});

test('with one, why counts the tasks that start before it, as status does', async () => {
  const scene = newScene(area, { policy: { max_agents: 1 } });
  const [first, second] = await newTasks(['first', 'second'], scene.at);
  await asOrchestrator(scene.folder, async () => {
    const { because, next } = await why(scene, first.id);
    expect(because[0]).toMatch(/^It is ready\. It starts with plain within .+\.$/);
    expect(next).not.toContain('copse orchestrate');
    const limit = 'Waits its turn: at most 1 agent runs here at once (policy.max_agents).';
    expect((await why(scene, second.id)).because).toEqual([limit]);
    expect(await statusOf(scene, second.id)).toBe(limit);
  });
});

test('why and status name the limit of an agent, and do not say that it is busy', async () => {
  const scene = newScene(area, { agents: { plain: { max: 1 } } });
  const [, second] = await newTasks(['first', 'second'], scene.at);
  const limit = 'Waits its turn: plain runs at most 1 at once (`max` in copse.yml).';
  expect((await why(scene, second.id)).because).toContain(limit);
  expect(await statusOf(scene, second.id)).toBe(limit);
});

test('an agent that copse.yml got later is unknown to the running orchestrator', async () => {
  const scene = newScene(area);
  await scene.up();
  const file = path.join(scene.folder, 'copse.yml');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { agents: Record<string, object> };
  config.agents['late'] = { ...config.agents['plain'] };
  writeFileSync(file, JSON.stringify(config));
  await printed(['config', 'accept', '--yes'], scene.at);
  await asOrchestrator(scene.folder, async () => {
    const waits = 'Waiting: the running orchestrator does not know the agent late';
    expect(await printed(['add', 'Later', '--agent', 'late'], scene.at)).toContain(waits);
    const id = await scene.add('late', 'true', '--agent', 'late');
    expect(await statusOf(scene, id)).toContain(waits);
    const { because, next } = await why(scene, id);
    expect(because[0]).toContain(waits);
    expect(next[0]).toBe('copse orchestrate');
    expect(await scene.why(id)).toContain('After Ctrl+C in the terminal of the running one:\n  → copse orch');
  });
  const { ready } = await answer<Status>(['status'], scene.at);
  for (const { why: text } of ready)
    expect(text).toBe('It starts with late as soon as an orchestrator runs here');
});

test('while this machine drains, every view says so and names the command that ends it', async () => {
  const scene = newScene(area);
  await scene.up();
  const { nodes } = await answer<{ nodes: readonly { name: string }[] }>(['node', 'list'], scene.at);
  const name = nodes[0]?.name ?? '';
  const resume = `copse node resume ${name}`;
  await printed(['node', 'drain', name], scene.at);
  await asOrchestrator(scene.folder, async () => {
    const drains = 'This machine is draining and starts no new tasks.';
    const added = await printed(['add', 'One'], scene.at);
    expect(added).toContain(`    ${drains}\n  → ${resume}\n`);
    const id = /cp-\w+/.exec(added)?.[0] ?? '';
    const { because, next } = await why(scene, id);
    expect([because[0], next[0]]).toEqual([drains, resume]);
    expect(await statusOf(scene, id)).toBe(`${drains.slice(0, -1)} (${resume})`);
  });
});

test('a task that depends on a cancelled one needs the person, and the command lets it start', async () => {
  const scene = newScene(area);
  const first = await scene.add('first', 'true');
  const waits = await scene.add('waits', 'true', '--depends', first);
  const { needsYou: none } = await answer<Status>(['status'], scene.at);
  expect(none).toEqual([]);
  await printed(['cancel', first], scene.at);
  const { because, next } = await why(scene, waits);
  expect(because).toEqual([`It cannot start: it depends on ${first}, which is cancelled.`]);
  const edit = `copse edit ${waits} --not-depends ${first}`;
  expect(next[0]).toBe(edit);
  const { needsYou } = await answer<Status>(['status'], scene.at);
  expect(needsYou).toMatchObject([{ task: waits, kind: 'dependency', command: edit }]);
  expect(await printed(['status'], scene.at)).toContain('1 needs you · 1 cancelled\n');
  await printed(edit.split(' ').slice(1), scene.at);
  expect((await why(scene, waits)).because[0]).toMatch(/^It is ready\./);
});
