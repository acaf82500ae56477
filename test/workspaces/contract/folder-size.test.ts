import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { folderSize } from '../../../packages/copse/src/workspaces/files/folder-size.ts';
import { newArea } from '../../support/cli.ts';

test('measuring a large folder leaves time to other work, and says what it measured in time', async () => {
  const folder = path.join(newArea(), 'large');
  mkdirSync(folder);
  for (let file = 0; file < 1_200; file += 1) writeFileSync(path.join(folder, `${file}`), 'x');
  let turns = 0;
  const other = () => {
    turns += 1;
    beside = setImmediate(other);
  };
  let beside = setImmediate(other);
  const size = await folderSize(folder, performance.now() + 60_000);
  clearImmediate(beside);
  expect(size.isWhole).toBe(true);
  expect(turns).toBeGreaterThan(1);
  expect(await folderSize(folder, performance.now())).toMatchObject({ isWhole: false });
});
