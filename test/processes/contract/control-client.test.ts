/** The client of tmux where it cannot be started: what happens is told, and the process goes on. */

import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { expect, test } from 'vitest';

import { projectRoot } from '../../guards/working-copy.ts';

const client = path.join(projectRoot, 'packages/copse/src/processes/control/client.ts');

const program = `
  import fs from 'node:fs';
  import { openTerminals } from ${JSON.stringify(client)};
  process.stdout.write('');
  try { for (;;) fs.openSync('/dev/null'); } catch {}
  const events = { onEnd: (reason) => fs.writeSync(1, 'ended: ' + reason) };
  const terminal = openTerminals().open('copse-x', events);
  terminal.look();
  fs.writeSync(1, await terminal.type(Buffer.from('x')) + ' ');
  setTimeout(() => terminal.close(), 100);
`;

test('without a free file number, the terminal ends with the reason', () => {
  const argv = ['-c', 'ulimit -n 60; exec "$0" --input-type=module -e "$1"', process.execPath, program];
  const { status, stdout, stderr } = spawnSync('sh', argv, { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: 'not_typed ended: spawn tmux EMFILE',
    stderr: '',
  });
});
