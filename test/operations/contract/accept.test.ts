/** Accepting settings gives power over the machine: only a person can, and only what the person saw. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { withAccess } from '../../../packages/copse/src/compose/operations/access.ts';
import { operations } from '../../../packages/copse/src/operations/registry.ts';
import * as accept from '../../../packages/copse/src/operations/setup/config-accept.ts';
import * as acceptRemotes from '../../../packages/copse/src/operations/setup/config-accept-remotes.ts';
import * as noticeTest from '../../../packages/copse/src/operations/setup/notice-test.ts';
import * as pending from '../../../packages/copse/src/operations/setup/config-pending.ts';
import { answer, copse, newArea, newRepository, plainEnv, printed } from '../../support/cli.ts';

const area = newArea();
const session = { ...plainEnv, COPSE_SESSION_ID: 'se-aaaa', COPSE_TOKEN: '1' };

async function changed(text: string): Promise<{ readonly cwd: string; readonly env: typeof plainEnv }> {
  const cwd = newRepository(area);
  await printed(['list'], { cwd });
  writeFileSync(path.join(cwd, 'copse.yml'), text);
  return { cwd, env: plainEnv };
}

const settings = (cwd: string) => answer<object>(['config', 'show'], { cwd });

describe('settings that changed', () => {
  test('are accepted by the version that a person saw', async () => {
    const at = await changed('policy: { max_agents: 2 }\n');
    const { version, changes } = await withAccess(at, async (access) =>
      pending.view(await pending.act(access)),
    );
    expect(changes).toEqual([
      {
        name: 'copse.yml',
        decides: expect.any(String),
        before: null,
        now: 'policy: { max_agents: 2 }\n',
        problem: null,
      },
    ]);
    expect(await withAccess(at, (access) => accept.act(access, { version }))).toEqual(['copse.yml']);
    expect(await withAccess(at, pending.act)).toMatchObject({ changes: [], isFirst: false });
    expect(JSON.stringify(await settings(at.cwd))).toContain('{"key":"policy.max_agents","value":2,');
  });

  test('are refused when the files changed since', async () => {
    const at = await changed('policy: { max_agents: 2 }\n');
    const { version } = await withAccess(at, pending.act);
    writeFileSync(path.join(at.cwd, 'copse.yml'), 'policy: { max_agents: 3 }\n');
    await expect(withAccess(at, (access) => accept.act(access, { version }))).rejects.toMatchObject({
      failure: { code: 'wrong_status', next: ['copse config pending'] },
    });
    expect(await withAccess(at, pending.act)).toMatchObject({ changes: [{ name: 'copse.yml' }] });
  });

  test('are refused while copse.yml has a mistake', async () => {
    const at = await changed('policy: { max_agents: many }\n');
    const { version } = await withAccess(at, pending.act);
    await expect(withAccess(at, (access) => accept.act(access, { version }))).rejects.toMatchObject({
      failure: { code: 'invalid' },
    });
  });

  test('are shown by copse config pending, which accepts nothing', async () => {
    const { cwd } = await changed('policy: { max_agents: 2 }\n');
    const { stdout, stderr } = await copse(['config', 'pending'], { cwd });
    expect(stdout).toContain('+ policy: { max_agents: 2 }');
    expect(stderr).toContain('copse config accept');
    expect(await withAccess({ cwd, env: plainEnv }, pending.act)).toMatchObject({ changes: [{}] });
  });
});

describe('an agent', () => {
  test('may call no operation that accepts', () => {
    const accepting = operations.filter(({ name }) => /accept/.test(name));
    expect(accepting.map(({ name, callers }) => ({ name, callers }))).toEqual([
      { name: 'config.accept', callers: ['person'] },
      { name: 'config.accept_remotes', callers: ['person'] },
    ]);
  });

  test('is refused by the operation too', async () => {
    const { cwd } = await changed('policy: { max_agents: 2 }\n');
    const at = { cwd, env: session };
    const { version } = await withAccess({ cwd, env: plainEnv }, pending.act);
    const refused = { failure: { code: 'not_this_session' } };
    await expect(withAccess(at, (access) => accept.act(access, { version }))).rejects.toMatchObject(refused);
    await expect(withAccess(at, acceptRemotes.act)).rejects.toMatchObject(refused);
    await expect(withAccess(at, noticeTest.act)).rejects.toMatchObject(refused);
    expect(await withAccess({ cwd, env: plainEnv }, pending.act)).toMatchObject({ changes: [{}] });
  });
});
