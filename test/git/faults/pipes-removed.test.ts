/**
 * Copse removes named pipes from folders that an agent can write. The agent is woken by the removal of its first pipe, and
 * exchanges the folder for a link to one of the person: no file there may be lost.
 */

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { isOpeningPipe, removePipes } from '../../../packages/copse/src/git/run/pipes.ts';
import { newArea } from '../../support/cli.ts';

const area = newArea();
const PIPES = 1_500;

describe.runIf(process.platform === 'linux')('the folder of a pipe that becomes a link', () => {
  // promise: no-link-followed
  it.each(['while its pipes are removed', 'with the folder above'])(
    '%s loses no file elsewhere',
    async (when) => {
      const at = path.join(area, when);
      const [gitDir, person] = [path.join(at, '.git'), path.join(at, 'person')];
      const exchanged = path.join(gitDir, 'worktrees');
      const own = when === 'with the folder above' ? path.join(exchanged, 'deep') : exchanged;
      const theirs = path.join(person, path.relative(exchanged, own));
      for (const folder of [own, theirs]) mkdirSync(folder, { recursive: true });
      const names = Array.from({ length: PIPES }, (_, index) => `file-${index}`);
      execFileSync('mkfifo', names, { cwd: own });
      for (const name of names) writeFileSync(path.join(theirs, name), 'kept\n');

      const [first] = readdirSync(own);
      const script = ': < "$1"; mv "$2" "$2.old"; ln -s "$3" "$2"';
      const agent = spawn('sh', ['-c', script, 'sh', path.join(own, first ?? ''), exchanged, person]);
      const ended = new Promise((resolve) => agent.once('exit', resolve));
      try {
        while (!isOpeningPipe(agent.pid ?? 0)) await sleep(5);
        removePipes(gitDir);
        await ended;
      } finally {
        agent.kill('SIGKILL');
      }
      expect(readdirSync(theirs)).toHaveLength(PIPES);
    },
  );
});
