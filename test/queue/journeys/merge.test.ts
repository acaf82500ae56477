/** `copse merge`: a person lets finished work land, with its checks, without them, and beside whoever leads the queue. */

import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, expect, test } from 'vitest';

import { answer, copse, finished, newArea, printed, startCopse } from '../../support/cli.ts';
import { type Scene, endAgents, newScene, refusedBy } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

const CHECK = `echo run >> "$HOLD.runs"
while test -f "$HOLD"; do sleep 0.05; done
if test -f broken; then echo "first line"; echo "expected 3 but got 4"; exit 1; fi
`;

const PLAIN = 'commit "$COPSE_TASK_ID" "$COPSE_TASK_ID.txt"';

async function reviewed(
  scripts: Readonly<Record<string, string>>,
  { hasChecks = true } = {},
): Promise<{ readonly scene: Scene; readonly id: (title: string) => string; readonly hold: string }> {
  const hold = path.join(area, `hold ${Math.random().toString(36).slice(2)}`);
  const checks = hasChecks ? { test: { command: 'sh check.sh', env: { HOLD: hold } } } : {};
  const scene = newScene(area, { sections: { landing: { policy: 'review', checks } } });
  writeFileSync(path.join(scene.folder, 'check.sh'), CHECK);
  scene.git('add', '--all');
  scene.git('commit', '--quiet', '--message=chore: checks');
  const ids = new Map<string, string>();
  await Promise.all(
    Object.entries(scripts).map(async ([title, script]) => ids.set(title, await scene.add(title, script))),
  );
  await scene.up();
  return { scene, hold, id: (title) => ids.get(title) ?? expect.fail(`There is no task ${title}`) };
}

const moves = (scene: Scene) => scene.git('reflog', 'show', '--format=%gs', 'main').split('\n').length;

test('green changes land together, with one move of the target; a red one goes back with its output', async () => {
  const { scene, id } = await reviewed({
    one: PLAIN,
    two: PLAIN,
    red: 'commit red broken',
  });
  const [one, two, red] = [id('one'), id('two'), id('red')];
  const before = moves(scene);
  const merged = await copse(['merge', one, two, red], scene.at);
  expect(merged).toMatchObject({ code: 4 });
  expect(merged.stdout).toMatch(
    /^(Landed cp-\w+ as [0-9a-f]{10}\n {4}Removed its worktree .+ and its branch cp-\S+\n){2}$/,
  );
  expect(merged.stderr).toMatch(
    new RegExp(`Check "\\w+" failed \\(exit code \\d+; retried once\\) on main merged with this branch\\.`),
  );
  expect(merged.stderr).toContain('expected 3 but got 4');
  expect(merged.stderr).toContain(`→ copse resume ${red}`);
  expect(moves(scene) - before).toBe(1);
  expect(await scene.statuses()).toEqual({ one: 'done', two: 'done', red: 'needs_attention' });
  expect(await scene.why(red)).toContain('expected 3 but got 4');

  // A person answers for it: no check runs, and everybody can see who said so.
  expect(await printed(['merge', red, '--now'], scene.at)).toMatch(
    new RegExp(`^Landed ${red} as [0-9a-f]{10} \\(without checks: its checks were skipped\\)\\n`),
  );
  expect(await scene.events()).toContainEqual(
    expect.objectContaining({ type: 'landing.checks_skipped', by: 'person:ada' }),
  );
  const { queues } = await answer<{ queues: readonly { landed: readonly unknown[] }[] }>(['queue'], scene.at);
  expect(queues[0]?.landed[0]).toMatchObject({ task: red, isVerified: false });
});

test('a conflict is refused, with checks or without', async () => {
  const edit = (text: string) => `echo ${text} > a.txt; git commit --quiet --all --message="feat: ${text}"`;
  const { scene, id } = await reviewed({ first: edit('first'), second: edit('second') });
  await scene.merge(id('first'));
  const said = await refusedBy(['merge', id('second'), '--now'], scene.at);
  expect(said).toContain('a.txt');
  expect(await scene.statuses()).toEqual({ first: 'done', second: 'needs_attention' });
  expect(scene.subjects().at(-1)).toBe('feat: first');
});

test('without checks it says that it landed without checks', async () => {
  const { scene, id } = await reviewed({ plain: PLAIN }, { hasChecks: false });
  expect(await scene.merge(id('plain'))).toMatch(
    / \(without checks: no checks are set\)\n {4}Removed its worktree .+\n/,
  );
});

test('Ctrl+C while waiting leaves it in the queue, and the next leader lands it', async () => {
  const { scene, id, hold } = await reviewed({ held: PLAIN });
  const held = id('held');
  writeFileSync(hold, '');
  const child = startCopse(['merge', held], scene.at);
  const merging = finished(child);
  await checksBegin(scene);
  child.kill('SIGINT');
  const { code, stdout, stderr } = await merging;
  expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
  expect(stderr).toContain(`${held} stays in the queue: you stopped waiting.`);
  expect(stderr).toContain(`→ copse queue cancel ${held}`);
  expect(await scene.statuses()).toEqual({ held: 'landing' });

  const leader = startCopse(['orchestrate'], scene.at);
  const led = finished(leader);
  await checksBegin(scene);
  const again = copse(['merge', held, '--json'], scene.at);
  await sleep(1_000);
  rmSync(hold);
  const waited = await again;
  leader.kill('SIGINT');
  await led;
  expect(waited.code).toBe(0);
  expect(JSON.parse(waited.stdout)).toMatchObject({
    landings: [{ landing: 'landed', task: held, isVerified: true }],
  });
});

test('a change that is being checked lands at once when a person skips the checks', async () => {
  const { scene, id, hold } = await reviewed({ held: PLAIN, other: PLAIN });
  writeFileSync(hold, '');
  await printed(['queue', 'retry', id('held'), id('other')], scene.at);
  const leader = startCopse(['orchestrate'], scene.at);
  const led = finished(leader);
  await checksBegin(scene);
  expect(await printed(['merge', id('held'), '--now'], scene.at)).toContain('its checks were skipped');
  expect(await scene.statuses()).toEqual({ held: 'done', other: 'landing' });
  rmSync(hold);
  leader.kill('SIGINT');
  await led;
});

/** Somebody leads, and a check is running. */
async function checksBegin(scene: Scene): Promise<void> {
  for (let looks = 0; looks < 200; looks += 1) {
    const { queues } = await answer<{ queues: readonly { checks: readonly unknown[] }[] }>(
      ['queue'],
      scene.at,
    );
    if ((queues[0]?.checks.length ?? 0) > 0) return;
    await sleep(100);
  }
  expect.fail('No check began');
}
