/** A list in the repository and a program as sources. */

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { answer, copse, git, newArea, printed } from '../../support/cli.ts';
import { newSourceSite, tasksOf } from '../../support/issue-server/site.ts';
import { endAgents } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

const agent =
  'echo "$COPSE_WORK_ITEM_SOURCE $COPSE_WORK_ITEM_ID" >"$COPSE_TASK_ID" && git add -A && git commit -qm "feat: x"';
const sections = {
  landing: { policy: 'auto' },
  policy: { poll_interval: '300ms', min_free_memory: '64MB' },
  agents: { coder: { command: agent } },
};
const LIST = '# Plan\n\n- [ ] Login\n  Use cookies.\n  - [ ] Form\n- [x] Old\n';

function newListSite() {
  return newSourceSite(area, { type: 'markdown', files: ['*.md'] }, { files: { 'TODO.md': LIST }, sections });
}

describe('a list', () => {
  // promise: tick-lands
  // setting: sources.<name>.files, sources.<name>.type=markdown
  test('becomes tasks, and its boxes are ticked by commits that land', async () => {
    const site = newListSite();
    expect((await copse(['orchestrate', '--until-idle'], site.at)).code).toBe(0);
    expect(git(site.folder, 'show', 'main:TODO.md')).toBe(LIST.replaceAll('[ ]', '[x]').trimEnd());
    expect(readFileSync(path.join(site.folder, 'TODO.md'), 'utf8')).toBe(LIST.replaceAll('[ ]', '[x]'));
    expect(git(site.folder, 'status', '--porcelain')).toBe('');
    const tasks = await tasksOf(site);
    const [login, form] = ['Login', 'Form'].map((title) => tasks.find((task) => task.title === title));
    expect(login).toMatchObject({ status: 'done', dependsOn: [form?.id] });
    expect(git(site.folder, 'show', `main:${form?.id}`)).toBe(`src ${form?.workItem?.id}`);
    expect(await printed(['sources', 'sync'], site.at)).toContain(`; ${login?.id} stays`);
    expect(await printed(['sources', 'sync'], site.at)).toContain('nothing new');
    const shown = await printed(['show', login?.id ?? ''], site.at);
    expect(shown).toMatch(/item\s+src#TODO\.md:\w+ \(closed upstream, told: done\)/);
  });

  // promise: tick-lands
  test('that a person is editing is neither read nor written: the tick waits', async () => {
    const site = newListSite();
    const file = path.join(site.folder, 'TODO.md');
    await printed(['sources', 'sync'], site.at);
    const edited = `${LIST}- [ ] Not committed\n`;
    writeFileSync(file, edited);
    expect(await printed(['sources', 'sync'], site.at)).toContain('nothing new');
    const { id } = (await tasksOf(site)).find(({ title }) => title === 'Form') ?? { id: '' };
    await printed(['work', id], site.at);
    await copse(['finish', '--no-changes'], { ...site.at, cwd: path.join(site.folder, '.worktrees', id) });
    expect(await printed(['sources', 'sync'], site.at)).toMatch(/cp-\w+ ticks 1 box\./);
    const tick = (await tasksOf(site)).find(({ title }) => title.startsWith('Tick'));
    await copse(['merge', tick?.id ?? ''], site.at);
    expect(readFileSync(file, 'utf8')).toBe(edited);
    expect(git(site.folder, 'show', 'main:TODO.md')).toBe(LIST.trimEnd());
    writeFileSync(file, LIST);
    expect((await copse(['merge', tick?.id ?? ''], site.at)).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(LIST.replace('- [ ] Form', '- [x] Form'));
  });

  test('whose line is edited edits its task', async () => {
    const site = newListSite();
    await printed(['sources', 'sync'], site.at);
    const before = (await tasksOf(site)).map(({ id }) => id).toSorted();
    writeFileSync(
      path.join(site.folder, 'TODO.md'),
      LIST.replace('- [ ] Login', '- [ ] Login with passkeys'),
    );
    git(site.folder, 'commit', '--quiet', '--all', '--message=edit');
    await printed(['sources', 'sync'], site.at);
    const tasks = await tasksOf(site);
    expect(tasks.map(({ title }) => title).toSorted()).toEqual(['Form', 'Login with passkeys']);
    expect(tasks.map(({ id }) => id).toSorted()).toEqual(before);
  });
});

describe('a program', () => {
  const command = 'cat "{folder}/items"';
  test.each([
    ['prints a line that is no item', '{"id":1}\n', 'Line 1 is not an item'],
    ['prints no JSON', 'x\n', 'Line 1 is not an item'],
  ])('that %s changes nothing', async (_, items, said) => {
    const site = newSourceSite(area, { type: 'command', command }, { files: { items } });
    const { code, stderr } = await copse(['sources', 'sync'], site.at);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(said) });
    expect(await answer(['sources', 'list'], site.at)).toMatchObject({
      sources: [{ problem: expect.stringContaining(said) }],
    });
  });

  // setting: sources.<name>.timeout
  test('that takes longer than its time is ended', async () => {
    const site = newSourceSite(area, { type: 'command', command: 'exec sleep 600', timeout: '200ms' });
    const { code, stderr } = await copse(['sources', 'sync'], site.at);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('took longer than 0.2 s'),
    });
  });

  test('of the repository is not run: landed work could change it', async () => {
    const files = { items: '#!/bin/sh\ntouch ran\n' };
    const site = newSourceSite(area, { type: 'command', command: './items' }, { files });
    chmodSync(path.join(site.folder, 'items'), 0o755);
    const check = await copse(['config', 'check'], site.at);
    expect(check).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('sources.src.command runs ./items'),
    });
    const { stderr } = await copse(['sources', 'sync'], site.at);
    expect(stderr).toContain('The command runs ./items of the repository, which agents can change.');
    // Also where the sentence does not see it.
    const hidden = newSourceSite(area, { type: 'command', command: 'eval ./items' }, { files });
    chmodSync(path.join(hidden.folder, 'items'), 0o755);
    expect((await copse(['sources', 'sync'], hidden.at)).stderr).toContain('not found');
    for (const one of [site, hidden]) expect(existsSync(path.join(one.folder, 'ran'))).toBe(false);
  });

  // setting: sources.<name>.command, sources.<name>.type=command
  test('that fails closes no item; one that no longer prints an item does', async () => {
    const files = { items: '{"id":1,"title":"One"}\n' };
    const site = newSourceSite(area, { type: 'command', command, on_closed: 'cancel' }, { files });
    await printed(['sources', 'sync'], site.at);
    git(site.folder, 'rm', '--quiet', 'items');
    const { stderr } = await copse(['sources', 'sync'], site.at);
    expect(stderr).toMatch(/The command failed \(1\): cat: .*items.*: No such file/);
    expect(await tasksOf(site)).toMatchObject([{ status: 'ready' }]);
    writeFileSync(path.join(site.folder, 'items'), '');
    const nothing = await copse(['sources', 'sync'], site.at);
    expect(nothing.stderr).toContain('printed nothing, and 1 item would count as closed');
    expect(await tasksOf(site)).toMatchObject([{ status: 'ready' }]);
    writeFileSync(path.join(site.folder, 'items'), '[]\n');
    expect(await printed(['sources', 'sync'], site.at)).toContain('src#1 was closed');
    expect(await tasksOf(site)).toMatchObject([{ status: 'cancelled' }]);
  });
});
