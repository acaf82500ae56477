/** What becomes of work that conflicts: resolved without anybody, by its agent, by a task of its own, or by a person. */

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { answer, newArea, printed } from '../../support/cli.ts';
import { type Scene, type SceneOptions, endAgents, newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
afterAll(() => endAgents(area));

/** Whoever comes first waits until all have committed, so that each began before any landed. */
const meet = (count: number) =>
  `note met; while [ "$(grep -c ^met "$NOTES")" -lt ${count} ]; do sleep 0.1; done`;
const change = (line: string) =>
  `printf '1\\n${line}\\n3\\n' > a.txt; git commit --quiet --all --message="feat: ${line}"`;
/** One of two that change the same line; the other lands before this one wants to. */
const second = (line: string) =>
  `${change(line)}; ${meet(2)}; while [ "$(git log --format=%B main | grep -c "feat: first")" = 0 ]; do sleep 0.1; done`;

function branch(scene: Scene, id: string): string {
  return scene.git('for-each-ref', '--format=%(objectname)', `refs/heads/${id}/`);
}

// setting: landing.lockfiles, landing.merge_drivers
test('drivers and commands of copse.yml resolve conflicts without a question', async () => {
  const scene = newScene(area, {
    sections: {
      landing: {
        merge_drivers: { '*.list': 'cat %A %B > all; sort -u all > %A' },
        lockfiles: { lock: ['sort -u names.list | wc -l > lock'] },
      },
    },
  });
  writeFileSync(path.join(scene.folder, 'names.list'), 'm\n');
  writeFileSync(path.join(scene.folder, 'lock'), '1\n');
  scene.git('add', '--all');
  scene.git('commit', '--quiet', '--message=chore: lists');
  const add = (name: string) =>
    scene.add(
      name,
      `echo ${name} >> names.list; echo "2 with ${name}" > lock; git commit --quiet --all --message="feat: ${name}"; ${meet(3)}`,
    );
  const ids = [await add('a'), await add('b'), await add('c')];
  const output = await scene.up();
  expect(await scene.statuses()).toEqual({ a: 'done', b: 'done', c: 'done' });
  expect(scene.git('show', 'main:names.list').split('\n').toSorted()).toEqual(['a', 'b', 'c', 'm']);
  expect(scene.git('show', 'main:lock').trim()).toBe('4');
  expect(output).not.toContain('handed back');
  expect(output).toContain('Resolved by merge driver: names.list; Regenerated: lock');
  // Nobody's work is missing from the history.
  for (const id of ids) expect(scene.git('log', '--format=%B', 'main')).toContain(`Task: ${id}`);
  expect(existsSync(path.join(scene.folder, '.copse', 'logs', 'resolve'))).toBe(true);
  // And it can be told later.
  const told = await Promise.all(ids.map((id) => scene.why(id)));
  expect(told.filter((why) => why.includes('Regenerated: lock'))).toHaveLength(2);
});

test('an agent gets both sides and the purpose of the other; its resolution is remembered', async () => {
  const scene = newScene(area);
  const before = scene.git('rev-parse', 'main');
  const first = await scene.add(
    'The first',
    `copse ledger add decision 'Ada wants "one"'; ${change('first')}; ${meet(2)}`,
    '--body',
    'Because the second\n\u001b[2Jis wrong.',
  );
  const other = await scene.add(
    'The second',
    [
      'if was_told "conflicts with what landed"; then',
      '  cp .copse/session-prompt.md "$NOTES.told"; copse sync --conflict > /dev/null',
      "  printf '1\\nboth\\n3\\n' > a.txt; git commit --quiet --all --message='feat: both'",
      `else ${second('second')}; fi`,
    ].join('\n'),
  );
  await scene.up();
  expect(await scene.statuses()).toEqual({ 'The first': 'done', 'The second': 'done' });
  const resolved = 'It had a conflict before, which was resolved on its branch.';
  expect(await scene.why(other)).toContain(resolved);
  expect(await scene.why(first)).not.toContain(resolved);
  const told = readFileSync(`${scene.notes}.told`, 'utf8');
  expect(told).toContain(`The branch of ${other} conflicts with main:\n  a.txt\n`);
  expect(told).toContain(
    [
      'Landed on main meanwhile:',
      `  ${first}: The first`,
      '    > Because the second',
      '    > \\x1b[2Jis wrong.',
      '    > decided: Ada wants "one"',
      '    > committed: feat: first',
      '',
    ].join('\n'),
  );
  expect(told).toMatch(
    / {2}a\.txt \(contents\)\n {4}\| 1\n {4}\| <{7} .*\n {4}\| first\n {4}\| ={7}\n {4}\| second\n/,
  );

  // The same conflict comes up once more: a person took the second back, and another task has the same change.
  scene.git('revert', '--no-edit', 'main');
  expect(scene.git('show', 'main:a.txt')).toBe('1\nfirst\n3');
  await scene.add(
    'The third',
    `git reset --quiet --hard ${before}; echo new > n; git add n; ${change('second')}`,
  );
  const output = await scene.up();
  expect(await scene.statuses()).toMatchObject({ 'The third': 'done' });
  expect(output).toContain('Resolved as before: a.txt');
  expect(scene.git('show', 'main:a.txt')).toBe('1\nboth\n3');
});

/** Two tasks collide under a policy, and one waits for the second of them. */
async function collide(options: SceneOptions, resolver = '') {
  const scene = newScene(area, options);
  const program = path.join(scene.scripts, 'agent');
  const otherwise = path.join(scene.scripts, 'otherwise.sh');
  writeFileSync(otherwise, `${resolver}\n`);
  writeFileSync(
    program,
    readFileSync(program, 'utf8').replace(
      /^\. .*$/m,
      '[ -f "${0%/*}/$COPSE_TASK_ID.sh" ] || COPSE_TASK_ID=otherwise; . "${0%/*}/$COPSE_TASK_ID.sh"',
    ),
  );
  chmodSync(program, 0o755);
  const first = await scene.add('first', `${change('first')}; ${meet(2)}`);
  const other = await scene.add('second', second('second'), '--priority', 'p1');
  const waiting = await scene.add('waits', 'commit waits w.txt', '--depends', other);
  return { scene, first, other, waiting, output: await scene.up() };
}

// setting: landing.on_conflict
test.each(['rebase', 'squash'])(
  'on_conflict: task makes a task that merges both, with %s',
  async (method) => {
    const { scene, other, output } = await collide(
      { sections: { landing: { on_conflict: 'task', method } } },
      [
        'if was_told "does not contain the work"; then',
        '  git merge --quiet "$(grep -o \'refs/copse/conflict/[a-z0-9-]*\' AGENT_CONTEXT.md | head -n 1)" || true',
        "  printf '1\\nboth\\n3\\n' > a.txt; git commit --quiet --all --message='feat: both'",
        'else cp AGENT_CONTEXT.md "$NOTES.context"; commit "something else" s.txt; fi',
      ].join('\n'),
    );
    expect(await scene.statuses()).toEqual({
      first: 'done',
      second: 'done',
      'Resolve: second': 'done',
      waits: 'done',
    });
    expect(scene.git('show', 'main:a.txt')).toBe('1\nboth\n3');
    expect(scene.git('log', '--format=%B', 'main')).toContain('feat: waits');
    expect(scene.git('log', '--format=%B', 'main')).toContain('feat: second');
    const context = readFileSync(`${scene.notes}.context`, 'utf8');
    expect(context).toMatch(/\n1\. git merge refs\/copse\/conflict\/[a-z0-9-]+\n/);
    expect(context).toContain('> Landed on main meanwhile:\n');
    expect(output).toMatch(new RegExp(`waits +${other} it conflicts with its target; cp-\\w+ resolves that`));
    expect(output).not.toContain('needs you');
    // Nothing of it stays behind.
    expect(scene.git('for-each-ref', 'refs/copse/conflict', 'refs/copse/candidate')).toBe('');
    expect(branch(scene, other)).toBe('');
    expect(await scene.why(other)).toMatch(/cp-\w+ resolved its conflict\./);
    expect(existsSync(path.join(scene.folder, '.worktrees', other))).toBe(false);
  },
);

test('a resolving task that conflicts goes back to its agent: one conflict has one task', async () => {
  const { scene } = await collide(
    { sections: { landing: { on_conflict: 'task' } } },
    [
      'if was_told "conflicts with what landed"; then note again; git merge --quiet main || true',
      "  printf '1\\nall\\n3\\n' > a.txt; git commit --quiet --all --message='feat: all'",
      'else',
      '  git merge --quiet "$(grep -o \'refs/copse/conflict/[a-z0-9-]*\' AGENT_CONTEXT.md | head -n 1)" || true',
      "  printf '1\\nboth\\n3\\n' > a.txt; git commit --quiet --all --message='feat: both'",
      // A person lands something in between.
      '  cd "$COPSE_REPO_ROOT" && printf "1\\nperson\\n3\\n" > a.txt && git commit --quiet --all --message="fix: by a person"',
      'fi',
    ].join('\n'),
  );
  expect(await scene.statuses()).toEqual({
    first: 'done',
    second: 'done',
    'Resolve: second': 'done',
    waits: 'done',
  });
  expect(readFileSync(scene.notes, 'utf8')).toContain('again');
  expect(scene.git('show', 'main:a.txt')).toBe('1\nall\n3');
});

test('an original that was resumed stays as it is: a resolving task that lands later changes nothing', async () => {
  const { scene, other } = await collide(
    { sections: { landing: { on_conflict: 'task' } } },
    'sleep 0.1; exit 3',
  );
  expect(await scene.statuses()).toMatchObject({ second: 'needs_attention', 'Resolve: second': 'failed' });
  expect(await scene.why(other)).toMatch(
    /It needs you\. The branch of cp-\w+ conflicts with main:[^]*cp-\w+ resolves its conflict and is failed/,
  );
  const resolver = [...(await scene.tasks()).values()].find(({ title }) => title.startsWith('Resolve'))!.id;
  await printed(['cancel', other], scene.at);
  scene.script(
    resolver,
    `git merge --quiet "$(grep -o 'refs/copse/conflict/[a-z0-9-]*' AGENT_CONTEXT.md | head -n 1)" || true; printf '1\\nboth\\n3\\n' > a.txt; git commit --quiet --all --message=both`,
  );
  await printed(['restart', resolver], scene.at);
  await scene.up();
  expect(await scene.statuses()).toMatchObject({ second: 'cancelled', 'Resolve: second': 'done' });
});

// setting: agents.<name>.landing.on_conflict
test('on_conflict: skip of an agent sets it aside, others continue, and a resume gets the conflict', async () => {
  const { scene, first, other } = await collide({
    agents: { plain: { landing: { on_conflict: 'skip' } } },
    sections: { landing: { on_conflict: 'task' } },
  });
  expect(await scene.statuses()).toEqual({ first: 'done', second: 'needs_attention', waits: 'pending' });
  expect(await scene.why(other)).toContain(`      ${first}: first\n`);
  expect((await scene.events()).filter(({ type }) => type === 'task.handed_back')).toEqual([]);
  scene.script(
    other,
    [
      'cp .copse/session-prompt.md "$NOTES.told"; git merge --quiet main || true',
      "printf '1\\nboth\\n3\\n' > a.txt; git commit --quiet --all --message='feat: both'",
    ].join('\n'),
  );
  await answer(['resume', other, '--message', 'Please'], scene.at);
  await scene.up();
  expect(await scene.statuses()).toEqual({ first: 'done', second: 'done', waits: 'done' });
  const told = readFileSync(`${scene.notes}.told`, 'utf8');
  expect(told).toContain('Please');
  expect(told).toContain('When it stopped: it conflicts with what landed meanwhile.');
  expect(told).toMatch(/ {4}\| first\n {4}\| ={7}\n {4}\| second\n/);
});
