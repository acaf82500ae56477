/** What people read while no orchestrator runs, and at its end. */

import { afterAll, expect, test } from 'vitest';

import { newArea, printed } from '../../support/cli.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

test('an orchestrator that ends gives its leads back, and no view says that a task lands soon', async () => {
  const scene = newScene(area);
  await scene.add('first', 'commit one one.txt; copse finish');
  await scene.up();
  await printed(['queue', 'pause'], scene.at);
  const id = await scene.add('second', 'commit two two.txt; copse finish');
  await scene.up();
  await printed(['queue', 'resume'], scene.at);
  for (const command of [['why', id], ['status'], ['queue']]) {
    const text = await printed(command, scene.at);
    expect(text).not.toContain('within 5 s');
    expect(text).toContain('no orchestrator is running here');
  }
  await scene.merge(id);
});
