/** What an agent wrote runs in checks and in the teardown too: there it tries all that an attempt tries (sandbox-rows.ts). */

import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { git } from '../../support/cli.ts';
import {
  Around,
  matrix,
  newDiskArea,
  noSandbox,
  quoted,
  readTried,
  requiresSandbox,
} from '../../support/agents/sandbox-matrix.ts';
import { Site } from '../../support/agents/sandbox-site.ts';

const area = newDiskArea();
const about = noSandbox === null ? '' : ` (skipped: ${noSandbox})`;

it.runIf(requiresSandbox)('this machine has the sandbox that these tests are about', () => {
  expect(noSandbox).toBeNull();
});

describe.runIf(noSandbox === null)(`checks and teardown in the sandbox of sandbox-runtime${about}`, () => {
  // promise: checks-confined, sandbox-files, sandbox-network, sandbox-hidden, sandbox-processes-end
  it('can read and write their worktree, and reach nothing else', { timeout: 180_000 }, async () => {
    const site = new Site(area);
    const around = await Around.open(site.place, site.folder);
    const scripts = { check: around.scriptOf('check'), teardown: around.scriptOf('teardown') };
    try {
      site.configure(
        {
          command: 'echo x > x && git add x && git commit --quiet --message="feat: x" && copse finish',
          sandbox_hosts: [`127.0.0.1:${around.modelPort}`],
        },
        {
          landing: { policy: 'auto', checks: { test: `sh ${quoted(scripts.check)}` } },
          workspace: { teardown: [`sh ${quoted(scripts.teardown)}`] },
        },
      );
      const id = await site.add('Try everything');
      git(site.folder, 'pack-refs', '--all');
      const before = site.unmoved(id);
      await site.orchestrate();
      expect(await site.task(id)).toMatchObject({ status: 'done' });
      expect(site.worktree(id)).toBe('');
      const logs = path.join(site.folder, '.copse', 'logs');
      const [run = ''] = readdirSync(path.join(logs, 'queue'));
      const said = {
        check: readTried(readFileSync(path.join(logs, 'queue', run, 'test.log'), 'utf8')),
        teardown: readTried(readFileSync(path.join(logs, id, 'teardown-1.log'), 'utf8')),
      };
      for (const column of ['check', 'teardown'] as const) {
        expect({ column, ...said[column] }).toEqual({
          column,
          did: matrix[column].allowed,
          couldNot: matrix[column].forbidden,
        });
        expect({ column, left: around.left(column) }).toEqual({ column, left: [] });
      }
      expect(site.unmoved(id)).toEqual(before);
    } finally {
      await around.close();
    }
  });
});
