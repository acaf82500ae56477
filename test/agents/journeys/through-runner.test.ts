/** Agents reach the board through their runner: nothing that opens it, or anything else, is in their environment. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, describe, expect, test } from 'vitest';

import { answer, copse, git, newArea, newRepository } from '../../support/cli.ts';
import { endAgents } from '../../support/agents/scripted-agents.ts';
import { type EngineName, engines, newPlace } from '../../support/board/boards.ts';

const area = newArea();
afterAll(() => endAgents(area));

interface Site {
  readonly folder: string;
  readonly at: { readonly cwd: string; readonly env: Readonly<Record<string, string>> };
}

async function newSite(engine: EngineName, script: string, agent: object = {}): Promise<Site> {
  const folder = newRepository(area);
  const place = await newPlace(engine);
  afterAll(() => place[Symbol.asyncDispose]());
  const { address } = place;
  writeFileSync(path.join(folder, 'agent.sh'), script);
  const config = {
    agents: { agent: { command: 'sh ./agent.sh', ...agent } },
    landing: { policy: 'review' },
    policy: { min_free_memory: '50MB', poll_interval: '500ms' },
  };
  writeFileSync(path.join(folder, 'copse.yml'), JSON.stringify(config));
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message=chore: agents');
  const env = {
    ...(address.engine === 'postgres' && { COPSE_BOARD: address.url }),
    GH_TOKEN: 'hidden-gh',
    GIT_ASKPASS: '/hidden/askpass',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraheader',
    GIT_CONFIG_VALUE_0: 'hidden-header',
    SSH_AUTH_SOCK: '/hidden/agent.sock',
    OPENAI_API_KEY: 'hidden-openai',
    MAY_PASS_TOKEN: 'plain',
    PASSED_GH: 'x',
  };
  return { folder, at: { cwd: folder, env } };
}

const worktreeOf = ({ folder }: Site, id: string) => path.join(folder, '.worktrees', id);

describe.each(engines)('an agent on a board of %s', (engine) => {
  // promise: agents-without-secrets
  test('has no secret in its environment, and reports, reads and adds all the same', async () => {
    const site = await newSite(
      engine,
      `mkdir -p .copse; env > .copse/env.txt
       copse phase working > .copse/phase.txt 2>&1
       copse ledger add learning - < agent.sh > .copse/ledger.txt 2>&1
       copse list > .copse/list.txt 2>&1
       echo "the whole" > .copse/body.txt
       copse add "Found on the way" --requires what-nobody-can --body-file .copse/body.txt > .copse/add.txt 2>&1
       copse orchestrate > .copse/refused.txt 2>&1; echo "$?" >> .copse/refused.txt
       copse finish > .copse/first.txt 2>&1; echo "$?" >> .copse/first.txt
       echo done > work.txt; git add work.txt; git commit --quiet --message="feat: work"
       copse sync > .copse/sync.txt 2>&1
       copse finish --summary "All done"
      `,
      { max: 1 },
    );
    const { id } = await answer<{ readonly id: string }>(['add', 'Do it', '--priority', 'p5'], site.at);
    await copse(['orchestrate', '--until-idle'], site.at);
    const wrote = (name: string) => readFileSync(path.join(worktreeOf(site, id), '.copse', name), 'utf8');
    expect(wrote('env.txt')).not.toMatch(/hidden|^COPSE_BOARD|^PG|copse:secret/m);
    expect(wrote('env.txt')).toContain('MAY_PASS_TOKEN=plain');
    expect(wrote('phase.txt')).toBe(`${id} is in phase working.\n`);
    expect(wrote('ledger.txt')).toBe(`Added a learning to the ledger of ${id}.\n`);
    expect(wrote('list.txt')).toContain('Do it');
    expect(wrote('add.txt')).toContain('Found on the way');
    expect(wrote('refused.txt')).toMatch(/may not run copse orchestrate[\s\S]*4\n$/);
    expect(wrote('first.txt')).toMatch(/Nothing was committed[\s\S]*4\n$/);
    expect(wrote('sync.txt')).toContain('already has everything');
    expect(await answer(['show', id], site.at)).toMatchObject({ status: 'in_review' });
    const { entries } = await answer<{ readonly entries: readonly { readonly text: string }[] }>(
      ['ledger', 'list', '--task', id],
      site.at,
    );
    expect(entries[0]?.text).toContain('copse phase working');
    const { tasks } = await answer<{ readonly tasks: readonly { id: string; title: string }[] }>(
      ['list', '--all'],
      site.at,
    );
    const added = tasks.find(({ title }) => title === 'Found on the way');
    expect(await answer(['show', added?.id ?? ''], site.at)).toMatchObject({ body: 'the whole\n' });
  });
});

describe('what an agent asks of its runner', () => {
  // promise: mcp-for-people
  test('reads no file for it, and is about its own task, whatever it writes into the question', async () => {
    const site = await newSite(
      'sqlite',
      `mkdir -p .copse
       ask() { echo "$2" > ".copse/asks/$COPSE_ATTEMPT_ID-commands/$1.ask.new"; mv ".copse/asks/$COPSE_ATTEMPT_ID-commands/$1.ask.new" ".copse/asks/$COPSE_ATTEMPT_ID-commands/$1.ask"; n=0; while ! test -f ".copse/asks/$COPSE_ATTEMPT_ID-commands/$1.answer" && test $n -lt 300; do sleep 0.1; n=$((n+1)); done; cp ".copse/asks/$COPSE_ATTEMPT_ID-commands/$1.answer" ".copse/$1.txt"; }
       ask file '{"kind":"command","input":{"argv":["add","x","--body-file","/etc/hostname"],"input":null}}'
       ask people '{"kind":"command","input":{"argv":["cancel","'$COPSE_TASK_ID'"],"input":null,"env":{"COPSE_SESSION_ID":""}}}'
       ask person '{"kind":"command","input":{"argv":["mcp","--as","person"],"input":null}}'
       copse mcp --as person </dev/null > .copse/direct.txt 2>&1; echo "$?" >> .copse/direct.txt
       ask odd '{"kind":"command","input":{"argv":"add","input":7}}'
       copse stuck --reason "enough"
      `,
    );
    const { id } = await answer<{ readonly id: string }>(['add', 'Ask'], site.at);
    await copse(['orchestrate', '--until-idle'], site.at);
    const said = (name: string) =>
      JSON.parse(readFileSync(path.join(worktreeOf(site, id), '.copse', `${name}.txt`), 'utf8')) as unknown;
    expect(said('file')).toMatchObject({ code: 4, stdout: '' });
    expect(said('people')).toMatchObject({ code: 4, stdout: '' });
    expect(said('person')).toMatchObject({ code: 4, stdout: '' });
    const direct = readFileSync(path.join(worktreeOf(site, id), '.copse', 'direct.txt'), 'utf8');
    expect(direct).toMatch(/^copse: copse mcp --as person is for people[\s\S]*\n4\n$/);
    expect(said('odd')).toBe(null);
    expect(await answer(['show', id], site.at)).toMatchObject({ status: 'stuck' });
  });
});

// A removal of the worktree may follow at once.
test('a command that an agent left running is over before its attempt ends', async () => {
  const site = await newSite(
    'sqlite',
    `mkdir -p .copse; echo done > work.txt; git add work.txt; git commit --quiet --message="feat: work"
     copse phase late > /dev/null 2>&1 &
     until test -e "$COPSE_REPO_ROOT/begun"; do sleep 0.05; done
    `,
    { finish: { accept: ['touch "$COPSE_REPO_ROOT/gate"'] } },
  );
  const late = path.join(area, 'late.mjs');
  writeFileSync(
    late,
    `import { existsSync, writeFileSync } from 'node:fs';
     if (process.env.COPSE_FOR_SESSION === '1' && process.argv.includes('late')) {
       writeFileSync('begun', '');
       // At the gate the agent is gone; a command that is still there would outlive the attempt.
       for (let looks = 0; looks < 30 && !existsSync('gate'); looks += 1)
         await new Promise((resolve) => setTimeout(resolve, 50));
       writeFileSync('left', existsSync('gate') ? 'late' : 'in time');
     }`,
  );
  const env = { ...site.at.env, NODE_OPTIONS: `--import=${pathToFileURL(late).href}` };
  await answer(['add', 'Do it'], site.at);
  await copse(['orchestrate', '--until-idle'], { ...site.at, env });
  expect(readFileSync(path.join(site.folder, 'left'), 'utf8')).toBe('in time');
  expect(existsSync(path.join(site.folder, 'gate'))).toBe(true);
});
