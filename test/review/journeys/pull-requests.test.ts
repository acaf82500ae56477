/** Finished work that becomes a pull request: opened, followed, merged at the forge, and everything that can come in between. */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { answer, copse, git, newArea, printed } from '../../support/cli.ts';
import { ForgeServer } from '../../support/forge-server/server.ts';
import { hook, likeGitlab, newRemote } from '../../support/forge-server/remotes.ts';
import { type Scene, type SceneOptions, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

interface Options {
  readonly kind?: 'github' | 'gitlab' | undefined;
  readonly workspace?: Readonly<Record<string, unknown>>;
  readonly landing?: Readonly<Record<string, unknown>>;
  readonly agents?: NonNullable<SceneOptions['agents']>;
  readonly isLoggedIn?: boolean;
}

type Site = Scene & { readonly forge: ForgeServer; readonly bare: string };

async function newSite(options: Options = {}): Promise<Site> {
  const { kind, workspace = {}, landing = { policy: 'pr' }, agents = { plain: {} } } = options;
  const { isLoggedIn = true } = options;
  const forged = kind === undefined ? {} : { forge: kind };
  const scene = newScene(area, { agents, sections: { workspace, landing: { ...landing, ...forged } } });
  const bare = newRemote(area);
  scene.git('remote', 'add', 'origin', bare);
  scene.git('push', '--quiet', '--set-upstream', 'origin', 'main');
  const forge = await ForgeServer.start({ kind: kind ?? 'github', bare });
  const at = { cwd: scene.folder, env: isLoggedIn ? forge.environment : {} };
  return Object.assign(scene, { forge, bare, at });
}

interface Shown {
  readonly status: string;
  readonly pullRequest: {
    readonly state: string;
    readonly url: string | null;
    readonly note: string | null;
  } | null;
  readonly artifacts: readonly { readonly kind: string; readonly address: string }[];
}

const shown = (site: Site, id: string) => answer<Shown>(['show', id], site.at);
const once = (site: Site) => copse(['orchestrate', '--once'], site.at);

describe.each(['github', 'gitlab'] as const)('at %s', (kind) => {
  // setting: agents.<name>.workspace.create_pr
  test('finished work is pushed and opened with texts of the task and its agent; merged there, it is done and its dependants start', async () => {
    const agents = { plain: { workspace: { create_pr: true } } };
    const site = await newSite({ kind, agents, landing: {} });
    const id = await site.add(
      'Add a "file"',
      `copse ledger add decision 'Plain text, @everybody: $(id)'; commit one one.txt; copse finish --summary 'One file.'`,
      '--body',
      'Because `it` is needed.',
      '--accept',
      'test -f one.txt',
    );
    const next = await site.add('Next', 'test -f one.txt && commit two two.txt', '--depends', id);
    const output = await site.up();
    const { pulls, page } = site.forge;
    const pull = pulls.only();
    expect(pull).toMatchObject({
      title: 'Add a "file"',
      target: 'main',
      branch: expect.stringContaining(id),
    });
    expect(pull.body).toContain('One file.');
    expect(pull.body).toContain('Because `it` is needed.');
    expect(pull.body).toContain('- `test -f one.txt`');
    expect(pull.body).toContain('- Plain text, @\u2060everybody: $(id)');
    expect(pull.body.trimEnd().split('\n').at(-1)).toBe(`Task: ${id}`);
    const url = kind === 'github' ? `${page}/pull/1` : `${page}/-/merge_requests/1`;
    expect(output).toContain(`review      ${id} pull request ${url}`);
    expect(await shown(site, id)).toMatchObject({ status: 'in_review', pullRequest: { state: 'open', url } });
    expect(await printed(['list'], site.at)).toContain(`pull request ${url}`);
    expect(await site.why(id)).toContain(`waits until its pull request is merged into main: ${url}`);
    expect((await site.statuses())['Next']).toBe('pending');

    // Nothing happened there: nothing is written here.
    const before = (await site.events()).length;
    await once(site);
    expect((await site.events()).length).toBe(before);

    const commit = pulls.merge(pull, 'squash');
    await once(site);
    expect(await site.why(id)).toContain(`Its pull request was merged as ${commit.slice(0, 10)}.`);
    const after = await shown(site, id);
    expect(after.status).toBe('done');
    expect(after.artifacts).toContainEqual(expect.objectContaining({ kind: 'uri', address: url }));
    expect((await site.statuses())['Next']).toBe('ready');
    expect(existsSync(path.join(site.folder, '.worktrees', id))).toBe(false);
    expect(site.git('branch', '--list', pull.branch)).toBe('');
    expect(pulls.tip(pull.branch)).toBeUndefined();
    // It begins at what the remote has: the file is there.
    await site.up();
    expect(await shown(site, next)).toMatchObject({ status: 'in_review', pullRequest: { state: 'open' } });
    expect(pulls.all).toHaveLength(2);
  });

  test('requested changes are reported, and the resumed agent adds to the same pull request', async () => {
    const site = await newSite({ kind });
    const id = await site.add('Change', 'commit one one.txt; commit two two.txt');
    await site.up();
    const { pulls } = site.forge;
    const first = pulls.tip(pulls.only().branch);
    pulls.only().reviews.push({ user: 'grace', state: 'CHANGES_REQUESTED' });
    await once(site);
    expect(await site.why(id)).toContain('Changes were requested');
    expect(await printed(['list'], site.at)).toContain('(changes requested)');
    site.script(id, 'commit again three.txt');
    await printed(['resume', id, '--message', 'A third file, please.'], site.at);
    await site.up();
    expect(pulls.tip(pulls.only().branch)).not.toBe(first);
    expect(await shown(site, id)).toMatchObject({ status: 'in_review', pullRequest: { state: 'open' } });
    expect(site.forge.posts).toHaveLength(1);
  });

  test('closed without a merge, it waits for a person; opened again, it is followed as before', async () => {
    const site = await newSite({ kind });
    const id = await site.add('Unwanted', 'commit one one.txt');
    await site.up();
    const { pulls } = site.forge;
    pulls.close(pulls.only(), 'grace');
    expect((await once(site)).stdout).toContain(`needs you   ${id} pull request`);
    expect(await site.why(id)).toContain('was closed without a merge by grace');
    expect(await shown(site, id)).toMatchObject({ status: 'in_review', pullRequest: { state: 'closed' } });
    expect(existsSync(path.join(site.folder, '.worktrees', id))).toBe(true);
    pulls.reopen(pulls.only());
    await once(site);
    expect(await shown(site, id)).toMatchObject({ pullRequest: { state: 'open' } });
    pulls.merge(pulls.only());
    await once(site);
    expect(await shown(site, id)).toMatchObject({ status: 'done' });
  });

  test('pushes of others are noted; merged without the submitted commit, the branch here stays', async () => {
    const site = await newSite({ kind });
    const id = await site.add('Shared', 'commit one one.txt');
    await site.up();
    const { pulls } = site.forge;
    const pull = pulls.only();
    const other = `${site.folder} (other)`;
    git(area, 'clone', '--quiet', site.bare, other);
    git(other, 'checkout', '--quiet', '-b', 'theirs');
    writeFileSync(path.join(other, 'theirs.txt'), 'theirs\n');
    git(other, 'add', '--all');
    git(other, 'commit', '--quiet', '--message=feat: theirs');
    git(other, 'push', '--quiet', '--force', 'origin', `theirs:refs/heads/${pull.branch}`);
    await once(site);
    expect(await site.why(id)).toContain('another person pushed to it');
    pulls.merge(pull);
    const { stderr, stdout } = await once(site);
    expect(await shown(site, id)).toMatchObject({ status: 'done' });
    expect(`${stdout}${stderr}`).toContain('Its branch is not merged');
    expect(existsSync(path.join(site.folder, '.worktrees', id, 'one.txt'))).toBe(true);
    expect(site.git('branch', '--list', pull.branch)).not.toBe('');
  });
});

test('taken out of the queue again, it is in review with its pull request, which is followed as before', async () => {
  const site = await newSite({ kind: 'github' });
  const id = await site.add('Landed here after all?', 'commit one one.txt');
  await site.up();
  const { pulls, page } = site.forge;
  await printed(['queue', 'pause'], site.at);
  await printed(['queue', 'retry', id], site.at);
  expect(await site.why(id)).toContain(`It was in review: pull request ${page}/pull/1.`);
  await printed(['queue', 'cancel', id], site.at);
  const pullRequest = { state: 'open', url: `${page}/pull/1` };
  expect(await shown(site, id)).toMatchObject({ status: 'in_review', pullRequest });
  pulls.merge(pulls.only(), 'merge');
  await once(site);
  expect(await shown(site, id)).toMatchObject({ status: 'done' });
  expect(pulls.all).toHaveLength(1);
});

describe('without an API of the forge', () => {
  test('the branch is pushed, the task names the address for a person, and is done when the target has it', async () => {
    const site = await newSite({ isLoggedIn: false });
    hook(site.bare, 'post-receive', 'echo "Visit http://forge.example.invalid/new for a pull request"');
    const [merged, squashed] = [
      await site.add('merged', 'commit one one.txt'),
      await site.add('squashed', 'commit two two.txt; commit three three.txt'),
    ];
    await site.up();
    expect(site.forge.asked).toEqual([]);
    expect(await shown(site, merged)).toMatchObject({
      status: 'in_review',
      pullRequest: { state: 'pushed', url: 'http://forge.example.invalid/new' },
    });
    expect(await site.why(merged)).toContain('Open a pull request: http://forge.example.invalid/new');
    const { pulls } = site.forge;
    const branchOf = async (id: string) =>
      (await answer<{ pullRequest: { branch: string } }>(['show', id], site.at)).pullRequest.branch;
    for (const [id, how] of [
      [merged, 'merge'],
      [squashed, 'squash'],
    ] as const)
      pulls.merge(pulls.add({ title: id, body: '', branch: await branchOf(id), target: 'main' }), how);
    await once(site);
    expect(await site.statuses()).toMatchObject({ merged: 'done', squashed: 'done' });
    for (const id of [merged, squashed])
      expect(existsSync(path.join(site.folder, '.worktrees', id))).toBe(false);
  });

  test('GitLab opens the merge request for the push, and the target shows when it is merged', async () => {
    const site = await newSite({ kind: 'gitlab', isLoggedIn: false });
    likeGitlab(site.bare, site.forge.page);
    const id = await site.add('Pushed', 'commit one one.txt');
    await site.up();
    const url = `${site.forge.page}/-/merge_requests/1`;
    expect(await shown(site, id)).toMatchObject({ status: 'in_review', pullRequest: { state: 'open', url } });
    await once(site);
    expect((await shown(site, id)).status).toBe('in_review');
    git(
      site.bare,
      'update-ref',
      'refs/heads/main',
      git(site.bare, 'rev-parse', 'refs/merge-requests/1/head'),
    );
    await once(site);
    expect((await shown(site, id)).status).toBe('done');
  });
});

describe('a push or a pull request that fails', () => {
  const REFUSAL = 'no branches on Fridays';

  // setting: workspace.on_push_failure
  test('is retried, left to a person, or only reported, as configured; no work is lost', async () => {
    const sites = await Promise.all(
      (['retry', 'fail', 'warn'] as const).map(async (onFailure) => {
        const site = await newSite({ kind: 'github', workspace: { on_push_failure: onFailure } });
        const refusing = hook(site.bare, 'pre-receive', `echo "${REFUSAL}" >&2; exit 1`);
        const id = await site.add('Refused', 'commit one one.txt');
        await site.up();
        expect(await site.why(id)).toContain(REFUSAL);
        expect(existsSync(path.join(site.folder, '.worktrees', id, 'one.txt'))).toBe(true);
        rmSync(refusing);
        await once(site);
        return { site, id };
      }),
    );
    const [retry, fail, warn] = sites.map(({ site, id }) => ({ site, id }));
    if (!retry || !fail || !warn) throw new Error('There are three');
    expect(await shown(retry.site, retry.id)).toMatchObject({ pullRequest: { state: 'open', note: null } });
    expect(await shown(fail.site, fail.id)).toMatchObject({ status: 'needs_attention' });
    expect(await shown(warn.site, warn.id)).toMatchObject({
      status: 'in_review',
      pullRequest: { state: 'given_up' },
    });
    // A person lets it land here, or the agent goes on and it is opened after all.
    expect(await warn.site.merge(warn.id)).toContain('Landed');
    fail.site.script(fail.id, 'commit two two.txt');
    await printed(['resume', fail.id], fail.site.at);
    await fail.site.up();
    expect(await shown(fail.site, fail.id)).toMatchObject({ pullRequest: { state: 'open' } });
  });

  // promise: forge-token-safe
  test('a limit of the forge is waited for with any configuration, and no stored text has the token', async () => {
    const site = await newSite({ kind: 'github', workspace: { on_push_failure: 'fail' } });
    const { COPSE_FORGE_API = '', GITHUB_TOKEN = '' } = site.forge.environment;
    Object.assign(site, { at: { ...site.at, env: { COPSE_FORGE_API, COPSE_FORGE_TOKEN: GITHUB_TOKEN } } });
    // Its agent sees all that it inherits.
    const id = await site.add('Limited', 'note "$(env)"; commit one one.txt');
    const limited = {
      status: 403,
      body: { message: `API rate limit exceeded for ${site.forge.token}.` },
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' },
    };
    site.forge.instead.push(limited);
    const output = await site.up();
    expect(await site.why(id)).toContain('rate limit');
    expect(await shown(site, id)).toMatchObject({ status: 'in_review', pullRequest: { state: 'wanted' } });
    await once(site);
    expect(await shown(site, id)).toMatchObject({ pullRequest: { state: 'open' } });
    const said = [output, readFileSync(site.notes, 'utf8'), JSON.stringify(await site.events())];
    const kept = [...said, await printed(['export'], site.at)].join('\n');
    expect(kept).toContain(`COPSE_TASK_ID=${id}`);
    expect(kept).not.toContain(site.forge.token);
  });
});

describe('push_on_success', () => {
  // setting: workspace.push_on_success
  test('pushes the branch of work that waits for a person, and follows it', async () => {
    const site = await newSite({ workspace: { push_on_success: true }, landing: { policy: 'review' } });
    const id = await site.add('Reviewed', 'commit one one.txt');
    await site.up();
    const { pullRequest } = await shown(site, id);
    expect(pullRequest).toMatchObject({ state: 'pushed' });
    expect(site.forge.asked).toEqual([]);
    expect(git(site.bare, 'branch', '--format=%(refname:short)')).toContain(id);
    expect(await site.merge(id)).toContain('Landed');
  });

  test('pushes the branch of work that does not land; a refusal is reported, or left to a person', async () => {
    const landing = { policy: 'none' };
    const [fine, warned, failed] = await Promise.all(
      (['warn', 'warn', 'fail'] as const).map((onFailure) =>
        newSite({ workspace: { push_on_success: true, on_push_failure: onFailure }, landing }),
      ),
    );
    if (!fine || !warned || !failed) throw new Error('There are three');
    for (const site of [warned, failed]) hook(site.bare, 'pre-receive', 'echo "no" >&2; exit 1');
    const ids = await Promise.all(
      [fine, warned, failed].map((site) => site.add('Kept', 'commit one one.txt')),
    );
    await Promise.all([fine, warned, failed].map((site) => site.up()));
    expect(git(fine.bare, 'branch', '--format=%(refname:short)')).toContain(ids[0] ?? '');
    expect((await fine.statuses())['Kept']).toBe('done');
    expect((await warned.statuses())['Kept']).toBe('done');
    expect((await failed.statuses())['Kept']).toBe('needs_attention');
    expect(await failed.why(ids[2] ?? '')).toContain('could not be pushed');
  });
});

// setting: workspace.create_pr, landing.forge
test('work by hand becomes a pull request at once, with create_pr under any policy', async () => {
  const site = await newSite({ kind: 'github', workspace: { create_pr: true }, landing: { policy: 'auto' } });
  const { id } = await answer<{ id: string }>(['add', 'By hand'], site.at);
  await printed(['work', id], site.at);
  const worktree = path.join(site.folder, '.worktrees', id);
  writeFileSync(path.join(worktree, 'mine.txt'), 'mine\n');
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', '--message=feat: mine');
  const output = await printed(['finish', id], { ...site.at, cwd: worktree });
  expect(output).toContain(`pull request ${site.forge.page}/pull/1`);
  expect(site.forge.pulls.only()).toMatchObject({ title: 'By hand', state: 'open' });
});
