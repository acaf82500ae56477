/**
 * An agent can write HEAD of its worktree. Copse commits, syncs and lands on the branch that the board has for the task, and
 * says so when HEAD names anything else.
 */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { newArea, printed } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

const onto = (ref: string) => `echo "ref: ${ref}" > "$(git rev-parse --git-dir)/HEAD"; echo evil > evil.txt`;

/** Each leaves an uncommitted file, which Copse is set to commit. */
const scripts: Readonly<Record<string, string>> = {
  'head on main': onto('refs/heads/main'),
  'head on a branch of a person': onto('refs/heads/persons'),
  'head on the branch of another task': onto('refs/heads/$(cat "${0%/*}/victim")'),
  'head on an alias of main': `git symbolic-ref refs/heads/alias refs/heads/main; ${onto('refs/heads/alias')}`,
  'head on no branch': 'git checkout --quiet --detach; echo evil > evil.txt',
  'head is a link':
    'ln --symbolic --force "$(git rev-parse --git-common-dir)/refs/heads/main" "$(git rev-parse --git-dir)/HEAD"; echo evil > evil.txt',
  'head is a pipe':
    'echo evil > evil.txt; head="$(git rev-parse --git-dir)/HEAD"; rm "$head"; mkfifo "$head"',
  'its branch is an alias of main':
    'own=refs/heads/$COPSE_WORKTREE_BRANCH; git update-ref --no-deref -d "$own"; git symbolic-ref "$own" refs/heads/main; echo evil > evil.txt',
};

let scene: Scene;
const ids: Record<string, string> = {};
let before: string;

beforeAll(async () => {
  scene = newScene(area, {
    agents: { committer: { finish: { on_dirty: 'commit' }, landing: { policy: 'review' } } },
    policy: { max_retries: 1 },
    sections: { landing: { checks: { never: 'false' } } },
  });
  scene.git('branch', 'persons');
  const victim = await scene.add('victim', 'true');
  await printed(['work', victim], scene.at);
  const branch = scene.git('branch', '--list', '--format=%(refname:short)', `${victim}/*`);
  writeFileSync(path.join(scene.scripts, 'victim'), branch);
  for (const [title, script] of Object.entries(scripts)) ids[title] = await scene.add(title, script);
  before = tips();
  await scene.up();
});

/** Of every branch that is not made for one of these tasks. */
function tips(): string {
  const own = Object.values(ids);
  return scene
    .git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads')
    .split('\n')
    .filter((line) => !line.includes('/alias ') && own.every((id) => !line.includes(`/${id}/`)))
    .join('\n');
}

describe('HEAD of a worktree that is not on the branch of its task', () => {
  // promise: task-branch-from-board
  test('moves no branch: not main, not that of a person, not that of another task', () => {
    expect(tips()).toBe(before);
  });

  test.each(Object.keys(scripts))('is stated: %s', async (title) => {
    const { [title]: status } = await scene.statuses();
    expect(['needs_attention', 'failed']).toContain(status);
    expect(await scene.why(ids[title] ?? '')).toMatch(/HEAD|symbolic/);
  });
});
