/** Snapshots that travel: what they hold and leave out, what they cost when nothing changed, and what comes out elsewhere. */

import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import type { TravelSnapshot } from '../../../packages/copse/src/git/port.ts';
import { acceptRemotes } from '../../../packages/copse/src/git/refs/remote.ts';
import { openWorkRefs } from '../../../packages/copse/src/git/refs/work-refs.ts';
import {
  type BranchName,
  type CommitId,
  type FencingToken,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { openRescues } from '../../../packages/copse/src/workspaces/git/rescue/rescues.ts';
import { looksSecret } from '../../../packages/copse/src/workspaces/rules/travel.ts';
import { git, newArea } from '../../support/cli.ts';
import {
  FILES,
  type Site,
  everyByte,
  manifest,
  newSite,
  task,
  write,
} from '../../support/workspaces/rescues.ts';

const area = newArea();
const branch = brand<BranchName>('work');
const token = 7 as FencingToken;
let moment = Date.parse('2026-01-02T03:04:05.678Z');

function take(
  { rescues, worktree }: Site,
  known: string | null = null,
  previous: CommitId | null = null,
): Promise<TravelSnapshot> {
  moment += 1000;
  return rescues.travelling({ task, worktree, branch, at: timestamp(moment), known, previous });
}

async function captured(site: Site, known: string | null = null, previous: CommitId | null = null) {
  const taken = await take(site, known, previous);
  if (taken.kind !== 'captured') throw new Error(`It is ${taken.kind}`);
  return taken;
}

/** A remote of the site, and a clone of it: another machine. */
function otherMachine({ repository, dir: own }: Site): Site {
  const origin = `${repository}.git`;
  git(path.dirname(repository), 'clone', '--quiet', '--bare', repository, origin);
  git(repository, 'remote', 'add', 'origin', origin);
  git(repository, 'push', '--quiet', 'origin', 'main');
  acceptRemotes(own);
  const clone = `${repository} elsewhere`;
  git(path.dirname(repository), 'clone', '--quiet', origin, clone);
  const dir = openTrustedDir(findRepository(clone)!);
  return { repository: clone, worktree: `${clone}.worktree`, dir, rescues: openRescues(dir) };
}

function dirOf({ repository }: Site) {
  return openTrustedDir(findRepository(repository)!);
}

/** As a preparation does it: the branch at the snapshot's HEAD, a worktree, the files. */
async function takeOver(other: Site, commit: CommitId): Promise<void> {
  const rescue = await other.rescues.adopt(commit);
  const start = rescue?.branchTip ?? rescue?.head ?? '';
  git(other.repository, 'worktree', 'add', '--quiet', '-b', branch, other.worktree, start);
  expect(await other.rescues.restore(rescue!, other.worktree)).toMatchObject({ kind: 'restored' });
}

describe('a snapshot', () => {
  // promise: snapshots-without-secrets
  it('changes no byte of index, HEAD, branch and files, and has all that git would take', async () => {
    const site = newSite(area, FILES);
    write(site.worktree, 'a.txt', 'changed\n');
    write(site.worktree, 'new ü.txt', 'new\n');
    write(site.worktree, 'staged.txt', 'staged\n');
    git(site.worktree, 'add', 'staged.txt');
    const before = everyByte(site);
    const { commit, head, isClean, left } = await captured(site);
    expect(everyByte(site)).toEqual(before);
    expect({ isClean, left }).toEqual({ isClean: false, left: [] });
    expect(git(site.repository, 'rev-parse', `${commit}^1`)).toBe(head);
    const names = git(site.repository, '-c', 'core.quotePath=false', 'ls-tree', '-r', '--name-only', commit);
    expect(names.split('\n')).toEqual(expect.arrayContaining(['new ü.txt', 'staged.txt']));
    expect(git(site.repository, 'show', `${commit}:a.txt`)).toBe('changed');
    // The folder of this machine is none of the remote's business.
    expect(git(site.repository, 'log', '--format=%B', commit)).not.toContain(path.dirname(site.worktree));
  });

  it('is made of a clean worktree too, and not again when nothing changed', async () => {
    const site = newSite(area, FILES);
    const first = await captured(site);
    expect(first.isClean).toBe(true);
    expect(git(site.repository, 'rev-parse', `${first.commit}^{tree}`)).toBe(
      git(site.worktree, 'rev-parse', 'HEAD^{tree}'),
    );
    expect((await take(site, first.mark)).kind).toBe('unchanged');
    git(site.worktree, 'commit', '--quiet', '--allow-empty', '--message=more');
    const second = await captured(site, first.mark);
    write(site.worktree, 'a.txt', 'changed\n');
    const third = await captured(site, second.mark);
    git(site.worktree, 'add', 'a.txt');
    expect((await captured(site, third.mark)).mark).not.toBe(third.mark);
  });

  // promise: snapshots-without-secrets
  it('leaves out ignored files, secrets and what is too large, and names the latter', async () => {
    const site = newSite(area, { ...FILES, '.gitignore': '*.log\n' });
    const { fileBytes } = defaultPolicy.travel;
    write(site.worktree, 'out.log', 'ignored\n');
    write(site.worktree, '.env', 'TOKEN=geheim\n');
    write(site.worktree, 'keys/server.pem', 'geheim\n');
    write(site.worktree, 'staged/id_rsa', 'geheim\n');
    git(site.worktree, 'add', 'staged/id_rsa');
    write(site.worktree, 'large.bin', Buffer.alloc(fileBytes + 1));
    write(site.worktree, '.env.example', 'TOKEN=\n');
    const before = everyByte(site);
    const { commit, left } = await captured(site);
    expect(everyByte(site)).toEqual(before);
    expect(left).toEqual(['.env', 'keys/server.pem', 'large.bin', 'staged/id_rsa']);
    const names = git(site.repository, 'ls-tree', '-r', '--name-only', commit).split('\n');
    expect(names).toContain('.env.example');
    for (const name of [...left, 'out.log']) expect(names).not.toContain(name);
    const sent = git(site.repository, 'rev-list', '--objects', '--no-object-names', commit, '^main').split(
      '\n',
    );
    const texts = sent.map((id) => git(site.repository, 'cat-file', '-p', id)).join('\n');
    expect(texts).not.toContain('geheim');
  });
});

describe('on another machine', () => {
  it('commits are on the branch, and uncommitted files come back uncommitted, staged ones staged', async () => {
    const site = newSite(area, FILES);
    const other = otherMachine(site);
    git(site.worktree, 'commit', '--quiet', '--allow-empty', '--message=made here');
    write(site.worktree, 'a.txt', 'changed\n');
    write(site.worktree, 'staged.txt', 'staged\n');
    git(site.worktree, 'add', 'staged.txt');
    write(site.worktree, 'run.sh', '#!/bin/sh\nexit 1\n');
    chmodSync(path.join(site.worktree, 'run.sh'), 0o755);
    const { commit, head } = await captured(site);
    const [here, there] = [openWorkRefs(dirOf(site)), openWorkRefs(other.dir)];
    expect(await here.push({ task, token }, commit)).toEqual({ kind: 'pushed' });
    expect(await there.fetch([{ task, token }])).toEqual({ kind: 'fetched', missing: [] });
    await takeOver(other, commit);
    expect(manifest(other.worktree)).toEqual(manifest(site.worktree));
    expect(git(other.worktree, 'rev-parse', 'HEAD')).toBe(head);
    expect(git(other.worktree, 'status', '--porcelain')).toBe(git(site.worktree, 'status', '--porcelain'));
  });

  it('a merge with conflicts goes on', async () => {
    const site = newSite(area, FILES);
    git(site.worktree, 'switch', '--quiet', '-c', 'side');
    write(site.worktree, 'a.txt', 'theirs\n');
    git(site.worktree, 'commit', '--quiet', '--all', '--message=theirs');
    git(site.worktree, 'switch', '--quiet', 'work');
    write(site.worktree, 'a.txt', 'ours\n');
    git(site.worktree, 'commit', '--quiet', '--all', '--message=ours');
    const other = otherMachine(site);
    expect(() => git(site.worktree, 'merge', '--quiet', 'side')).toThrow('Command failed');
    const { commit } = await captured(site);
    await openWorkRefs(dirOf(site)).push({ task, token }, commit);
    await openWorkRefs(other.dir).fetch([{ task, token }]);
    await takeOver(other, commit);
    expect(git(other.worktree, 'status', '--porcelain')).toBe('UU a.txt');
    write(other.worktree, 'a.txt', 'both\n');
    git(other.worktree, 'commit', '--quiet', '--all', '--no-edit');
    expect(git(other.worktree, 'log', '-1', '--format=%P').split(' ')).toHaveLength(2);
  });
});

describe('refs on the remote', () => {
  it('are replaced, pushed with new objects only, fetched together, and removed; one that is missing spoils no other', async () => {
    const site = newSite(area, FILES);
    const other = otherMachine(site);
    const [here, there] = [openWorkRefs(dirOf(site)), openWorkRefs(other.dir)];
    const first = await captured(site);
    await here.push({ task, token }, first.commit);
    write(site.worktree, 'a.txt', 'changed\n');
    const second = await captured(site, first.mark);
    expect(await here.newBytes(second.commit, [first.commit])).toBeLessThan(1_000);
    expect(await here.push({ task, token }, second.commit)).toEqual({ kind: 'pushed' });
    const absent = { task, token: 8 as FencingToken };
    expect(await there.fetch([{ task, token }, absent])).toEqual({ kind: 'fetched', missing: [absent] });
    expect(git(other.repository, 'rev-parse', `refs/copse/fetched/${task}/${token}`)).toBe(second.commit);
    expect(await there.list()).toEqual({ kind: 'listed', refs: [{ task, token, commit: second.commit }] });
    expect(await there.drop([{ task, token }, absent])).toEqual({ kind: 'dropped' });
    expect(await here.list()).toEqual({ kind: 'listed', refs: [] });
    expect(git(other.repository, 'for-each-ref', 'refs/copse')).toBe('');
  });

  it('one that the board still names comes with a later one that the board was not told of', async () => {
    const site = newSite(area, FILES);
    const other = otherMachine(site);
    const [here, there] = [openWorkRefs(dirOf(site)), openWorkRefs(other.dir)];
    const first = await captured(site);
    await here.push({ task, token }, first.commit);
    write(site.worktree, 'a.txt', 'changed\n');
    const second = await captured(site, first.mark, first.commit);
    await here.push({ task, token }, second.commit);
    const head = brand<CommitId>(git(site.worktree, 'rev-parse', 'HEAD'));
    const at = timestamp(moment);
    const third = await site.rescues.wrap({ task, head, at, previous: second.commit });
    await here.push({ task, token }, third);
    await there.fetch([{ task, token }]);
    await takeOver(other, first.commit);
    expect(git(other.repository, 'cat-file', '-t', second.commit)).toBe('commit');
  });

  it('one that the remote has stays when the remote refuses the next', async () => {
    const site = newSite(area, FILES);
    const other = otherMachine(site);
    const origin = git(other.repository, 'remote', 'get-url', 'origin');
    const here = openWorkRefs(dirOf(site));
    const first = await captured(site);
    await here.push({ task, token }, first.commit);
    const hook = path.join(origin, 'hooks', 'pre-receive');
    writeFileSync(hook, '#!/bin/sh\nread old new ref\ncase $new in *[!0]*) exit 1 ;; esac\n', {
      mode: 0o755,
    });
    write(site.worktree, 'a.txt', 'changed\n');
    const second = await captured(site, first.mark);
    expect(await here.push({ task, token }, second.commit)).toMatchObject({ because: 'rejected' });
    expect(await here.list()).toEqual({ kind: 'listed', refs: [{ task, token, commit: first.commit }] });
    writeFileSync(hook, '#!/bin/sh\nexit 1\n');
    expect(await here.drop([{ task, token }])).toMatchObject({ kind: 'failed', because: 'rejected' });
  });

  it('a remote that refuses forced pushes takes snapshots all the same', async () => {
    const site = newSite(area, FILES);
    const other = otherMachine(site);
    const origin = git(other.repository, 'remote', 'get-url', 'origin');
    git(origin, 'config', 'receive.denyNonFastForwards', 'true');
    const here = openWorkRefs(dirOf(site));
    const first = await captured(site);
    await here.push({ task, token }, first.commit);
    write(site.worktree, 'a.txt', 'changed\n');
    const second = await captured(site, first.mark);
    expect(await here.push({ task, token }, second.commit)).toEqual({ kind: 'pushed' });
    expect(git(origin, 'rev-parse', `refs/copse/work/${task}/${token}`)).toBe(second.commit);
  });

  it('no hook and no configuration of the repository has a say in a push', async () => {
    const site = newSite(area, FILES);
    const other = otherMachine(site);
    const dir = dirOf(site);
    const ran = path.join(site.repository, 'ran');
    const hook = path.join(site.repository, '.git', 'hooks', 'pre-push');
    writeFileSync(hook, `#!/bin/sh\ntouch "${ran}"\nexit 1\n`, { mode: 0o755 });
    git(site.repository, 'config', 'remote.origin.receivepack', `touch "${ran}"; git-receive-pack`);
    const { commit } = await captured(site);
    expect(await openWorkRefs(dir).push({ task, token }, commit)).toEqual({ kind: 'pushed' });
    expect(existsSync(ran)).toBe(false);
    // An address that no person accepted gets nothing.
    git(site.repository, 'config', 'remote.origin.url', other.repository);
    expect(await openWorkRefs(dir).push({ task, token }, commit)).toMatchObject({
      because: 'remote_changed',
    });
  });
});

it('names that usually hold secrets are told from others', () => {
  const secrets = [
    '.env',
    'app/.env.local',
    'x/.ssh/config',
    'id_ed25519',
    'cert.PEM',
    '.npmrc',
    'secrets.prod.yaml',
  ];
  const others = ['.env.example', 'environment.ts', 'key.ts', 'id_rsa.pub', 'secret-santa.md', 'monkey'];
  expect(secrets.filter((name) => !looksSecret(name))).toEqual([]);
  expect(others.filter(looksSecret)).toEqual([]);
});
