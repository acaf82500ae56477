import { expect, test } from 'vitest';

import { defaultConfig } from '../../packages/copse/src/config/parse.ts';
import { openWorkspaceContext } from '../../packages/copse/src/compose/open.ts';
import { newArea, newRepository, plainEnv } from '../support/cli.ts';

const area = newArea();

test('a repository without a copse.yml has the settings of an empty one', async () => {
  const context = await openWorkspaceContext({ cwd: newRepository(area), env: plainEnv });
  try {
    expect(context.settings).toEqual(defaultConfig().workspace);
    expect(context.target).toBe(defaultConfig().landing.target);
  } finally {
    await context.board.close();
  }
});
