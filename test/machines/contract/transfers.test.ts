/** A slow transfer lasts as long as it makes progress, up to a limit; one that stands still is ended. */

import { ChildProcess } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it, vi } from 'vitest';

import {
  PUSH_OPTIONS,
  acceptRemotes,
  addressOf,
  reach,
} from '../../../packages/copse/src/git/refs/remote.ts';
import { Supervision } from '../../../packages/copse/src/git/run/limits.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { git, newArea } from '../../support/cli.ts';
import { FILES, newSite } from '../../support/workspaces/rescues.ts';

const area = newArea();
const TIMEOUT_MS = 700;

/** A remote that takes a second for each push: it says something all the time, or nothing. */
function slowRemote(loop: string) {
  const { repository, dir } = newSite(area, FILES);
  const origin = `${repository}.git`;
  git(path.dirname(repository), 'clone', '--quiet', '--bare', repository, origin);
  git(repository, 'remote', 'add', 'origin', origin);
  acceptRemotes(dir);
  const hook = path.join(origin, 'hooks', 'pre-receive');
  writeFileSync(hook, `#!/bin/sh\n${loop}\n`);
  chmodSync(hook, 0o755);
  const head = git(repository, 'commit-tree', '-m', 'new', 'main^{tree}');
  const address = addressOf(dir, 'origin');
  if ('because' in address) throw new Error(address.reason);
  const argv = ['push', ...PUSH_OPTIONS, '--', 'origin', `${head}:refs/copse/work/cp-1/1`];
  return (options: { readonly isTransfer: boolean }) => reach(dir, address, argv, TIMEOUT_MS, options);
}

const SAYING = 'for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo "part $n" >&2; sleep 0.1; done';

it('a transfer that makes progress may take longer than the timeout; anything else may not', async () => {
  const push = slowRemote(SAYING);
  expect(await push({ isTransfer: false })).toMatchObject({ because: 'unreachable' });
  const pushed = await push({ isTransfer: true });
  expect(pushed).toMatchObject({ code: 0 });
  // The remote's words are there, and git's own progress is not.
  expect(pushed.stderr).toContain('remote: part 15');
  expect(pushed.stderr).not.toMatch(/objects|%|\r/);
});

it.each([
  ['silent', 'exec sleep 30'],
  ['after its last progress', 'printf "Writing objects: 100%% (3/3), done.\\n" >&2; exec sleep 30'],
])('a transfer that stands still is ended, and says so: %s', async (_, hook) => {
  const push = slowRemote(hook);
  const ended = await push({ isTransfer: true });
  expect(ended).toMatchObject({ because: 'unreachable' });
  expect('reason' in ended && ended.reason).toMatch(/it (made no progress for|took longer than) 700 ms/);
});

it('a transfer that always makes progress is ended at the limit for the whole', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'hrtime'] });
  try {
    const { transferMostMs } = defaultPolicy.workspace;
    // A process that was never started: there is nothing to end.
    const supervision = new Supervision(new ChildProcess(), 60_000);
    const goOn = (ms: number) => {
      for (let passed = 0; passed < ms; passed += 10_000) {
        vi.advanceTimersByTime(10_000);
        supervision.moves();
      }
    };
    goOn(transferMostMs - 60_000);
    expect(supervision.ended).toBeUndefined();
    goOn(120_000);
    expect(supervision.ended).toEqual({ kind: 'too_long', ms: transferMostMs });
    supervision.stop();
  } finally {
    vi.useRealTimers();
  }
});
