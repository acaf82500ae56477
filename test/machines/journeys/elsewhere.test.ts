/** Commands about a task whose worktree is on another machine: they work or explain. */

import { expect, it } from 'vitest';

import { git, newArea } from '../../support/cli.ts';
import { Fleet } from '../support/nodes.ts';

const area = newArea();

const AGENT = `
name=$COPSE_TASK_ID
echo text >"$name.txt"
commit "$name.txt"
case \${COPSE_WORKTREE_BRANCH#*/} in
  stuck*)
    echo unfinished >"$name.draft"
    copse stuck --reason 'This way or that?' >/dev/null
    ;;
  *) finish ;;
esac`;

// promise: snapshots-by-board
// promise: reset-everywhere
it('the other machine shows, compares, merges, takes over, cleans up and deletes', async () => {
  await using fleet = await Fleet.open(area, 2, { agent: AGENT, landing: { policy: 'review' } });
  const [first, second] = [fleet.machine(1), fleet.machine(2)];
  const titles = ['review me', 'stuck here', 'stuck there', 'stuck too', 'stuck to the end'] as const;
  const [done, stuck, gone, forged, over] = await fleet.add(...titles);
  const orchestrator = first.start();
  const story: string[] = [];
  const told = async (...argv: readonly string[]) => {
    const { code, stdout, stderr } = await second.copse(...argv);
    const text = `${stdout}${stderr}`;
    story.push(`$ copse ${argv.join(' ')} -> ${code}\n${text}`);
    return { code, text };
  };
  try {
    await fleet.until(async () => (await fleet.status(done!)) === 'in_review');
    for (const task of [stuck!, gone!, forged!, over!])
      await fleet.until(async () => (await fleet.status(task)) === 'stuck');
    orchestrator.interrupt();
    await orchestrator.ended;

    for (const task of [done!, stuck!])
      for (const command of ['show', 'why', 'logs', 'diff', 'review', 'cleanup', 'sync'])
        expect((await told(command, task)).text).not.toMatch(/\n\s+at .*:\d+|GitFailed|ended with exit code/);
    expect((await told('diff', done!)).text).toContain(`${done}.txt`);
    // A snapshot is shown as what it is.
    expect((await told('diff', stuck!)).text).toContain(`${stuck}.draft`);
    expect((await told('show', stuck!)).text).toMatch(/machine +.*n-\w+/);

    const merged = await told('merge', done!);
    expect(merged).toMatchObject({ code: 0 });
    expect(await fleet.status(done!)).toBe('done');

    const taken = await told('work', stuck!);
    expect(taken).toMatchObject({ code: 0 });
    expect(taken.text).toContain('It continues the work of machine');
    expect(second.git('-C', `.worktrees/${stuck}`, 'status', '--porcelain')).toBe(`?? ${stuck}.draft`);

    // A reset begins from the base, and stays there.
    expect(await told('work', stuck!, '--reset')).toMatchObject({ code: 0 });
    expect(await told('work', stuck!, '--resume')).toMatchObject({ code: 0 });
    expect(second.git('-C', `.worktrees/${stuck}`, 'ls-files', '--others', '--cached')).not.toContain(stuck!);

    // Nor does the machine go on from it that made it: not from its worktree, its branch or its snapshot.
    expect(await told('pause', stuck!)).toMatchObject({ code: 0 });
    expect(await first.copse('work', stuck!)).toMatchObject({ code: 0 });
    expect(first.git('-C', `.worktrees/${stuck}`, 'ls-files', '--others', '--cached')).not.toContain(stuck!);
    const rescues = first
      .git('for-each-ref', '--format=%(refname)', `refs/copse/rescue/${stuck}/`)
      .split('\n');
    const kept = rescues
      .filter((ref) => ref !== '')
      .map((ref) => first.git('ls-tree', '-r', '--name-only', ref));
    expect(kept.join('\n')).toContain(`${stuck}.draft`);

    // Others may be able to push: only the commit that the board has counts.
    const [ref = ''] = fleet.refs(`refs/copse/work/${forged}/`).keys();
    git(fleet.remote, 'update-ref', ref, fleet.refs(`refs/copse/work/${gone}/`).values().next().value!);
    const begun = await told('work', forged!);
    expect(begun.text).toContain('is not on the remote any more. What was done there is not here.');
    const files = second.git('-C', `.worktrees/${forged}`, 'ls-files', '--others', '--cached');
    expect(files).not.toMatch(/\.draft/);

    expect(await told('delete', gone!, '--yes')).toMatchObject({ code: 0 });
    expect([...fleet.refs('refs/copse/work/').keys()].filter((ref) => ref.includes(gone!))).toEqual([]);

    // A sweep drops the snapshots of a task that is over, and keeps their content as a rescue of this machine.
    const [[left, tip] = ['', '']] = fleet.refs(`refs/copse/work/${over}/`);
    expect(await told('cancel', over!)).toMatchObject({ code: 0 });
    // As if the remote had been away when it was cancelled, and its machine lost between a last push and the record of it.
    const message = git(fleet.remote, 'log', '-1', '--format=%B', tip);
    const newer = git(fleet.remote, 'commit-tree', `${tip}^{tree}`, '-p', tip, '-m', message);
    git(fleet.remote, 'update-ref', left, newer);
    expect((await told('sweep', '--dry-run')).text).toContain(`${left} `);
    expect(fleet.refs(`refs/copse/work/${over}/`).size).toBe(1);
    expect((await told('sweep')).text).toContain(`kept under refs/copse/rescue/${over}/`);
    expect(fleet.refs(`refs/copse/work/${over}/`).size).toBe(0);
    const [adopted = ''] = second
      .git('for-each-ref', '--format=%(refname)', `refs/copse/rescue/${over}/`)
      .split('\n');
    expect(second.git('ls-tree', '-r', '--name-only', adopted)).toContain(`${over}.draft`);
    expect(second.git('for-each-ref', '--format=%(objectname)', `refs/copse/rescue/${over}/`)).toContain(
      newer,
    );
    // What only the remote had is still to be had here.
    const [rescue = ''] = second
      .git('for-each-ref', '--format=%(refname)', `refs/copse/rescue/${gone}/`)
      .split('\n');
    expect(second.git('ls-tree', '-r', '--name-only', rescue)).toContain(`${gone}.draft`);
  } catch (error) {
    throw new Error(`${story.join('\n')}\n${fleet.story()}`, { cause: error });
  }
});
