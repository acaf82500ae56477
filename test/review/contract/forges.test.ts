/**
 * Pull requests at a forge: one suite for GitHub by its program and by its API, and for GitLab by its API; then what each has of
 * its own. The forge is a server on this machine that speaks their shapes about a real repository.
 */

import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { kindOf, parseRemote, safeBase } from '../../../packages/copse/src/review/forges/address.ts';
import { openForge } from '../../../packages/copse/src/review/forges/open.ts';
import { forgeRemote } from '../../../packages/copse/src/review/forges/forge-remote.ts';
import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { type BranchName, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type { Forge, PullRequestLook, PullRequestOrder } from '../../../packages/copse/src/review/port.ts';
import { git, newArea, plainEnv } from '../../support/cli.ts';
import { serveOverHttp } from '../../support/forge-server/git-http.ts';
import { ForgeServer } from '../../support/forge-server/server.ts';
import { hook, likeGitlab, newRemote } from '../../support/forge-server/remotes.ts';
import { MergeScene } from '../../support/queue/merging.ts';

const area = newArea();
const NOW = timestamp(Date.parse('2026-01-01T00:00:00Z'));
const branch = brand<BranchName>('cp-a1b2/a$(title)林');
const main = brand<BranchName>('main');
const TITLE = '--title "of" $(all) 林';

const programs = path.join(area, 'programs');
mkdirSync(programs);
symlinkSync(
  fileURLToPath(new URL('../../support/forge-server/gh.mjs', import.meta.url)),
  path.join(programs, 'gh'),
);

interface Site {
  readonly forge: Forge;
  readonly server: ForgeServer;
  readonly scene: MergeScene;
  readonly order: PullRequestOrder;
}

type Way = 'gh' | 'github' | 'gitlab';

async function newSite(way: Way, { isLoggedIn = true } = {}): Promise<Site> {
  const scene = new MergeScene(area);
  scene.commit('main', { 'a.txt': 'a\n' });
  const bare = newRemote(area);
  git(scene.top, 'remote', 'add', 'origin', bare);
  git(scene.top, 'push', '--quiet', 'origin', 'main');
  const head = scene.commit(branch, { 'b.txt': 'b\n' });
  const kind = way === 'gitlab' ? 'gitlab' : 'github';
  const server = await ForgeServer.start({ kind, bare });
  const forge = forgeFor(scene, kind, environmentOf(way, server, isLoggedIn));
  const order = { branch, head, target: main, title: TITLE, body: 'What.\n\nTask: cp-a1b2\n' };
  return { forge, server, scene, order };
}

function forgeFor(
  scene: MergeScene,
  kind: 'github' | 'gitlab' | undefined,
  environment: Record<string, string>,
): Forge {
  // Opened after its remote was set, so that the address is one that Copse accepts.
  rmSync(path.join(scene.top, '.copse', 'git'), { recursive: true, force: true });
  const remote = forgeRemote(openTrustedDir(findRepository(scene.top)!), 20_000);
  return openForge({ remote, kind, environment, timeoutMs: 5_000, now: () => NOW });
}

function environmentOf(way: Way, server: ForgeServer, isLoggedIn: boolean): Record<string, string> {
  const token = isLoggedIn ? server.token : '';
  const PATH = plainEnv['PATH'] ?? '';
  if (way === 'gh')
    return {
      PATH: `${programs}:${path.dirname(process.execPath)}:${PATH}`,
      FORGE_API: server.address,
      FORGE_TOKEN: token,
    };
  return { PATH, ...(isLoggedIn && server.environment) };
}

function factsOf(looked: PullRequestLook) {
  if (looked.kind !== 'found') throw new Error(looked.reason);
  return looked.facts;
}

describe.each<[name: string, way: Way]>([
  ['GitHub by gh', 'gh'],
  ['GitHub by its API', 'github'],
  ['GitLab by its API', 'gitlab'],
])('%s', (_, way) => {
  it('opens a pull request with title and text, for exactly the pushed commit', async () => {
    const { forge, server, order } = await newSite(way);
    expect(await forge.push(order)).toMatchObject({ kind: 'pushed' });
    const facts = factsOf(await forge.open(order, null));
    const pull = server.pulls.only();
    expect(pull).toMatchObject({
      title: TITLE,
      body: order.body,
      branch,
      target: 'main',
      lastHead: order.head,
    });
    expect(facts).toMatchObject({
      state: 'open',
      number: 1,
      head: order.head,
      target: 'main',
      review: 'none',
    });
    expect(facts.url).toContain(server.page);
  });

  // promise: pull-request-once
  it('asked again, finds the existing one, in any state', async () => {
    const { forge, server, order } = await newSite(way);
    await forge.push(order);
    await forge.open(order, null);
    expect(factsOf(await forge.open(order, null))).toMatchObject({ state: 'open', number: 1 });
    server.pulls.close(server.pulls.only(), 'grace');
    expect(factsOf(await forge.open(order, null))).toMatchObject({ state: 'closed', number: 1 });
    server.pulls.reopen(server.pulls.only());
    const commit = server.pulls.merge(server.pulls.only(), 'squash');
    expect(factsOf(await forge.open(order, null))).toMatchObject({ state: 'merged', commit });
    expect(server.posts).toHaveLength(1);
  });

  it('opens another for a later submission, when the first was closed', async () => {
    const { forge, server, scene, order } = await newSite(way);
    await forge.push(order);
    await forge.open(order, null);
    server.pulls.close(server.pulls.only(), 'grace');
    const again = { ...order, head: scene.commit(branch, { 'b.txt': 'again\n' }) };
    expect(await forge.push(again)).toMatchObject({ kind: 'pushed' });
    expect(factsOf(await forge.open(again, null))).toMatchObject({
      state: 'open',
      number: 2,
      head: again.head,
    });
  });

  // promise: pull-request-once
  it('whose answer was lost opens no second one when it is asked again', async () => {
    const { forge, server, order } = await newSite(way);
    await forge.push(order);
    server.instead.push(undefined, 'lose the answer');
    expect(await forge.open(order, null)).toMatchObject({ kind: 'failed', because: 'unreachable' });
    expect(factsOf(await forge.open(order, null))).toMatchObject({ state: 'open', number: 1 });
    expect(server.posts).toHaveLength(1);
  });

  it('takes the one that was opened elsewhere at the same moment', async () => {
    const { forge, server, order } = await newSite(way);
    await forge.push(order);
    server.onAsked = ({ method }) => {
      if (method === 'POST') server.pulls.add({ title: 'theirs', body: '', branch, target: 'main' });
    };
    expect(factsOf(await forge.open(order, null))).toMatchObject({ state: 'open', number: 1 });
    expect(server.pulls.only().title).toBe('theirs');
  });

  it('reports reviews, who closed it, the merge commit, and the tip of its branch', async () => {
    const { forge, server, scene, order } = await newSite(way);
    await forge.push(order);
    const known = factsOf(await forge.open(order, null));
    const pull = server.pulls.only();
    const look = async () => factsOf(await forge.look(known));
    expect(await look()).toMatchObject({ state: 'open', review: 'none', hasConflict: false });
    pull.reviews.push({ user: 'grace', state: 'APPROVED' });
    expect(await look()).toMatchObject({ review: 'approved' });
    pull.reviews.push({ user: 'linus', state: 'CHANGES_REQUESTED' }, { user: 'linus', state: 'COMMENTED' });
    expect(await look()).toMatchObject({ review: 'changes_requested' });
    const theirs = scene.commit(branch, { 'c.txt': 'theirs\n' });
    git(scene.top, 'push', '--quiet', 'origin', branch);
    expect(await look()).toMatchObject({ state: 'open', head: theirs });
    server.pulls.close(pull, 'grace');
    expect(await look()).toMatchObject({ state: 'closed', by: 'grace', head: theirs });
    server.pulls.reopen(pull);
    const commit = server.pulls.merge(pull);
    expect(await look()).toMatchObject({ state: 'merged', commit, head: theirs });
  });

  it('tells lasting problems from temporary ones', async () => {
    const { forge, server, order } = await newSite(way);
    await forge.push(order);
    const known = factsOf(await forge.open(order, null));
    const limited = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1_000 + 90) };
    const answers = [
      { status: 401, body: { message: 'Bad credentials' } },
      { status: 403, body: { message: 'Resource not accessible by personal access token' } },
      { status: 403, body: { message: 'API rate limit exceeded for user ID 1.' }, headers: limited },
      { status: 429, body: 'Retry later', headers: { 'retry-after': '17' } },
      { status: 404, body: { message: 'Not Found' } },
      { status: 502, body: '<html>Bad Gateway</html>' },
      'hang up' as const,
    ];
    const seen: unknown[] = [];
    for (const one of answers) {
      server.instead.push(one);
      const looked = await forge.look(known);
      seen.push(looked.kind !== 'failed' ? looked : [looked.because, looked.until]);
    }
    expect(seen).toEqual([
      ['not_authorised', null],
      ['not_authorised', null],
      ['rate_limited', NOW + 90_000],
      ['rate_limited', NOW + 17_000],
      ['not_found', null],
      ['unreachable', null],
      ['unreachable', null],
    ]);
    expect(factsOf(await forge.look(known))).toMatchObject({ state: 'open' });
  });

  it('reports a refusal in the words of the forge', async () => {
    const { forge, server, order } = await newSite(way);
    // Nothing was pushed.
    const looked = await forge.open(order, null);
    expect(looked).toMatchObject({ kind: 'failed', because: 'refused' });
    expect(server.pulls.all).toEqual([]);
  });

  // promise: forge-token-safe
  it('never prints its token', async () => {
    const { forge, server, order } = await newSite(way);
    const said: unknown[] = [await forge.push(order)];
    // Of its own it is asked by gh, which would be the one to quote it.
    const quoted = { message: `${way === 'gh' ? 'It' : server.token} is not good enough` };
    for (const status of [401, 403, 404, 422, 500])
      for (const body of [quoted, 'no']) {
        server.instead.push({ status, body });
        said.push(await forge.open(order, null));
      }
    server.instead.push('hang up');
    said.push(await forge.open(order, null));
    expect(JSON.stringify(said)).not.toContain('s3cr3t');
    expect(server.asked.length).toBeGreaterThan(10);
  });
});

describe('GitHub', () => {
  it('is called by gh outside any repository, with data on standard input', async () => {
    const { server, scene, order } = await newSite('gh');
    const log = path.join(area, 'gh.log');
    const forge = forgeFor(scene, 'github', { ...environmentOf('gh', server, true), FORGE_GH_LOG: log });
    await forge.push(order);
    await forge.open(order, null);
    const calls = readFileSync(log, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { argv: readonly string[]; cwd: string });
    expect(calls.length).toBeGreaterThan(2);
    for (const { argv, cwd } of calls) {
      expect(argv.join(' ')).not.toContain('of');
      expect(cwd).toBe('/');
    }
  });

  it('is asked with If-None-Match, so that unchanged answers do not use up the limit', async () => {
    const { forge, server, order } = await newSite('github');
    await forge.push(order);
    const known = factsOf(await forge.open(order, null));
    const first = await forge.look(known);
    const before = server.asked.length;
    expect(await forge.look(known)).toEqual(first);
    const again = server.asked.slice(before);
    expect(again.every(({ headers }) => headers['if-none-match'] !== undefined)).toBe(true);
  });

  it('without a login gets the branch, and the person the address for a pull request', async () => {
    for (const way of ['gh', 'github'] as const) {
      const { forge, server, order } = await newSite(way, { isLoggedIn: false });
      expect(await forge.push(order)).toMatchObject({ kind: 'pushed' });
      expect(await forge.open(order, null)).toMatchObject({
        kind: 'unknown',
        hint: expect.stringMatching(/^https:\/\/github\.com\/octo\/trees\/compare\/main\.\.\.cp-a1b2\//),
        reason: expect.stringContaining('gh auth login --hostname github.com'),
      });
      expect(server.asked).toEqual([]);
    }
  });

  it('with a token for Copse is called without gh', async () => {
    const { server, scene, order } = await newSite('gh');
    const log = path.join(area, 'unused gh.log');
    writeFileSync(log, '');
    const { COPSE_FORGE_API = '' } = server.environment;
    const token = { COPSE_FORGE_TOKEN: server.token, GITHUB_TOKEN: 'another', COPSE_FORGE_API };
    const environment = { ...environmentOf('gh', server, true), FORGE_GH_LOG: log, ...token };
    const forge = forgeFor(scene, 'github', environment);
    await forge.push(order);
    expect(factsOf(await forge.open(order, null))).toMatchObject({ state: 'open' });
    expect(readFileSync(log, 'utf8')).toBe('');
  });

  // promise: forge-token-safe
  it('that redirects elsewhere gets no token there', async () => {
    const [{ forge, server, order }, elsewhere] = [await newSite('github'), await newSite('github')];
    await forge.push(order);
    const headers = { location: `${elsewhere.server.address}/repos/octo/trees/pulls` };
    server.instead.push({ status: 307, body: { message: 'Temporary Redirect' }, headers });
    expect(await forge.open(order, null)).toMatchObject({ kind: 'failed', because: 'unreachable' });
    expect(elsewhere.server.asked).toEqual([]);
  });

  // promise: forge-token-safe
  it('gets no token over an unencrypted connection', async () => {
    const { scene, order } = await newSite('github');
    for (const address of [
      'http://forge.example.invalid',
      'ftp://127.0.0.1',
      'nonsense',
      'https://me:pw@127.0.0.1',
    ]) {
      const forge = forgeFor(scene, 'github', { COPSE_FORGE_API: address, GITHUB_TOKEN: 'tok-s3cr3t' });
      const looked = await forge.open(order, null);
      expect(looked).toMatchObject({ kind: 'unknown' });
      expect(JSON.stringify(looked)).not.toMatch(/s3cr3t|pw@/);
    }
    expect(safeBase('http://127.0.0.1:1/api')?.href).toBe('http://127.0.0.1:1/api');
    expect(safeBase('http://127.0.0.1.example.invalid')).toBeUndefined();
  });
});

describe('GitLab without a token', () => {
  it('opens a merge request through options of the push', async () => {
    const { forge, server, order } = await newSite('gitlab', { isLoggedIn: false });
    const options = likeGitlab(server.pulls.bare, server.page);
    const pushed = await forge.push(order);
    expect(pushed).toEqual({ kind: 'pushed', hint: `${server.page}/-/merge_requests/1` });
    expect(readFileSync(options, 'utf8').split('\n')).toEqual([
      'merge_request.create',
      'merge_request.target=main',
      `merge_request.title=${TITLE}`,
      'merge_request.description=What.',
      '',
    ]);
    const hint = pushed.kind === 'pushed' ? pushed.hint : null;
    expect(factsOf(await forge.open(order, hint))).toMatchObject({ state: 'open', number: 1 });
    expect(await forge.look({ number: 1, url: '' })).toMatchObject({ kind: 'unknown' });
    expect(server.asked).toEqual([]);
  });

  it('finds by its ref the merge request whose address was lost', async () => {
    const { forge, server, order } = await newSite('gitlab', { isLoggedIn: false });
    likeGitlab(server.pulls.bare, server.page);
    await forge.push(order);
    // Again, after a kill: nothing is new, so the remote says nothing.
    expect(await forge.push(order)).toEqual({ kind: 'pushed', hint: null });
    expect(factsOf(await forge.open(order, null))).toMatchObject({
      number: 1,
      url: 'https://gitlab.com/octo/trees/-/merge_requests/1',
    });
  });

  it('a push whose answer was lost is found on the remote', async () => {
    const { forge, server, order } = await newSite('gitlab', { isLoggedIn: false });
    hook(server.pulls.bare, 'post-receive', 'kill -9 "$PPID"');
    expect(await forge.push(order)).toEqual({ kind: 'pushed', hint: null });
    expect(server.pulls.tip(branch)).toBe(order.head);
    hook(server.pulls.bare, 'pre-receive', 'kill -9 "$PPID"');
    const next = { ...order, branch: brand<BranchName>('cp-a1b2/other') };
    expect(await forge.push(next)).toMatchObject({ kind: 'failed', because: 'unreachable' });
  });

  it('pushes the branch alone to a remote that takes no options', async () => {
    const { forge, server, order } = await newSite('gitlab', { isLoggedIn: false });
    expect(await forge.push(order)).toEqual({ kind: 'pushed', hint: null });
    expect(server.pulls.tip(branch)).toBe(order.head);
    expect(await forge.open(order, null)).toMatchObject({ kind: 'unknown' });
  });
});

describe('an unknown remote', () => {
  it('gets the branch, and its answer is kept', async () => {
    const { server, scene, order } = await newSite('github');
    hook(server.pulls.bare, 'post-receive', 'echo "Open one: http://forge.example.invalid/new?branch=x ok"');
    const forge = forgeFor(scene, undefined, { GITHUB_TOKEN: 'tok' });
    const pushed = await forge.push(order);
    expect(pushed).toEqual({ kind: 'pushed', hint: 'http://forge.example.invalid/new?branch=x' });
    expect(await forge.open(order, 'http://here')).toMatchObject({
      kind: 'unknown',
      hint: 'http://here',
      reason: expect.stringContaining('landing.forge'),
    });
    expect(server.asked).toEqual([]);
  });

  // promise: compare-and-swap
  it('that refuses, or has new commits, is never forced', async () => {
    const { server, scene, forge, order } = await newSite('github');
    const refusing = hook(server.pulls.bare, 'pre-receive', 'echo "cp-* is protected" >&2; exit 1');
    expect(await forge.push(order)).toMatchObject({
      kind: 'failed',
      because: 'rejected',
      reason: expect.stringContaining('cp-* is protected'),
    });
    rmSync(refusing);
    const theirs = scene.commit('theirs', { 'x.txt': 'x\n' });
    git(scene.top, 'push', '--quiet', 'origin', `theirs:refs/heads/${branch}`);
    expect(await forge.push(order)).toMatchObject({ kind: 'failed', because: 'rejected' });
    expect(server.pulls.tip(branch)).toBe(theirs);
  });
});

describe('a remote whose address has a password', () => {
  // promise: passwords-hidden
  it('is pushed to with it, and no output has it', async () => {
    const { server, scene, order } = await newSite('github');
    const { host } = await serveOverHttp(server.pulls.bare, 'ada:p4ss-w0rd');
    const said: unknown[] = [];
    for (const password of ['p4ss-w0rd', 'p4ss-wr0ng']) {
      const address = `http://ada:${password}@${host}/octo/trees.git`;
      git(scene.top, 'remote', 'set-url', 'origin', address);
      const forge = forgeFor(scene, undefined, {});
      const pushed = await forge.push(order);
      expect(pushed.kind).toBe(password === 'p4ss-w0rd' ? 'pushed' : 'failed');
      const looked = await forge.open(order, null);
      expect(looked).toMatchObject({ reason: expect.stringContaining(`http://${host}/octo/trees.git`) });
      said.push(pushed, looked);
    }
    expect(server.pulls.tip(branch)).toBe(order.head);
    expect(JSON.stringify(said)).not.toContain('p4ss');
  });
});

describe('the variables of gh', () => {
  // promise: forge-token-safe
  it.each([
    ['github.com', 'GH_ENTERPRISE_TOKEN'],
    ['github.invalid', 'GH_TOKEN'],
    ['github.invalid', 'GITHUB_TOKEN'],
  ])('for another host are not used for %s: %s', async (host, variable) => {
    const scene = new MergeScene(area);
    git(scene.top, 'remote', 'add', 'origin', `https://${host}/octo/trees.git`);
    const forge = forgeFor(scene, 'github', { PATH: '', [variable]: 'for another host' });
    const reason = expect.stringContaining(`Not logged in to ${host}`);
    expect(await forge.look({ number: 1, url: '' })).toMatchObject({ kind: 'unknown', reason });
  });
});

describe('the address of a remote', () => {
  it.each([
    ['git@github.com:octo/trees.git', 'github.com', 'octo', 'trees', 'github'],
    ['github.com:octo/trees', 'github.com', 'octo', 'trees', 'github'],
    ['ssh://git@ssh.github.com:443/octo/trees.git', 'github.com', 'octo', 'trees', 'github'],
    ['https://github.com/octo/trees.git/', 'github.com', 'octo', 'trees', 'github'],
    ['https://user:pass@github.com/octo/trees', 'github.com', 'octo', 'trees', 'github'],
    ['HTTPS://GitHub.com/octo/tr%C3%A9es.git', 'github.com', 'octo', 'trées', 'github'],
    ['https://github.example.com:8443/octo/trees.git', 'github.example.com:8443', 'octo', 'trees', 'github'],
    ['ssh://git@github.example.com:2222/octo/trees.git', 'github.example.com', 'octo', 'trees', 'github'],
    ['git@acme.ghe.com:octo/trees.git', 'acme.ghe.com', 'octo', 'trees', 'github'],
    ['git@gitlab.com:group/sub/trees.git', 'gitlab.com', 'group/sub', 'trees', 'gitlab'],
    ['https://gitlab.example.org/group/sub/trees', 'gitlab.example.org', 'group/sub', 'trees', 'gitlab'],
    ['https://git.example.org/octo/trees', 'git.example.org', 'octo', 'trees', 'none'],
    ['https://notgithub.com/octo/trees', 'notgithub.com', 'octo', 'trees', 'none'],
    ['https://github.com.evil.example/octo/trees', 'github.com.evil.example', 'octo', 'trees', 'github'],
    ['/srv/git/octo/trees.git', null, 'octo', 'trees', 'none'],
    ['file:///srv/git/octo/trees.git', null, 'octo', 'trees', 'none'],
    ['../octo/trees.git', null, 'octo', 'trees', 'none'],
  ])('%s is %s %s %s, run by %s', (address, host, owner, name, kind) => {
    const place = parseRemote(address);
    expect(place).toEqual({ host, owner, name });
    expect(place && kindOf(place)).toBe(kind);
  });

  it.each(['trees.git', '', 'https://github.com/', 'git@github.com:trees.git'])(
    '%s is not one',
    (address) => {
      expect(parseRemote(address)).toBeUndefined();
    },
  );
});
