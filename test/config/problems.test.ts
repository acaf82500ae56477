import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeConfig } from '../../packages/copse/src/config/problems/describe.ts';
import { parseConfig } from '../../packages/copse/src/config/parse.ts';
import { renderProblem } from '../../packages/copse/src/config/problems/problems.ts';

describe('a copse.yml with mistakes gives all of them, each with its line and a remedy', () => {
  const cases: readonly { mistake: string; yaml: string; lines: readonly string[] }[] = [
    {
      mistake: 'a misspelt key',
      yaml: 'agents:\n  coder:\n    wrkspace: {}\n',
      lines: ['3:5: agents.coder.wrkspace is not a known key. Did you mean workspace?'],
    },
    {
      mistake: 'keys at the wrong level',
      yaml: 'agents:\n  coder:\n    strategy: static\n    max_retries: 2\n    board: x\n',
      lines: [
        '3:5: agents.coder.strategy is not a known key. It belongs under agents.coder.workspace.',
        '4:5: agents.coder.max_retries is not a known key. It belongs under policy.',
        '5:5: agents.coder.board is not a known key. It belongs at the top level.',
      ],
    },
    {
      mistake: 'wrong words, numbers and switches',
      yaml: 'landing:\n  method: rebse\n  slots: 0\n  push: yes\n  every_commit_green: 1\n  target: a..b\n',
      lines: [
        '2:11: landing.method must be one of rebase, merge, squash. Did you mean rebase?',
        '3:10: landing.slots must be at least 1.',
        '4:9: landing.push must be true or false.',
        '5:23: landing.every_commit_green must be true or false.',
        '6:11: landing.target is not a name git accepts for a branch.',
      ],
    },
    {
      mistake: 'quantities without or with strange units',
      yaml: 'policy:\n  poll_interval: 30\n  lease: 0\n  context_handoff: 0.9\n  first_backoff: 5 minutes\n  min_free_disk: 3\n',
      lines: [
        '2:18: policy.poll_interval needs a unit: write 30s for seconds or 30m for minutes.',
        '3:10: policy.lease must be longer than 0.',
        '4:20: policy.context_handoff needs a unit: write 90%.',
        '5:18: policy.first_backoff must be a duration such as 500ms, 30s, 5m, 6h or 7d.',
        '6:18: policy.min_free_disk needs a unit: write 3MB or 3GB.',
      ],
    },
    {
      mistake: 'a lease that runs out before it is renewed',
      yaml: 'policy:\n  lease: 10s\n  lease_renewal: 10s\n',
      lines: ['3:18: policy.lease_renewal must be shorter than policy.lease.'],
    },
    {
      mistake: 'an unknown placeholder',
      yaml: 'workspace:\n  branch_pattern: "{tsk}/{slug}"\n',
      lines: [
        '2:19: workspace.branch_pattern has the unknown placeholder {tsk} (perhaps {task}): use {task} {slug} {agent} {workItem} {jobId} {date} {schedule}.',
      ],
    },
    {
      mistake: 'a branch pattern that is the same for every task',
      yaml: 'workspace: { branch_pattern: work }\n',
      lines: [
        '1:30: workspace.branch_pattern can give two tasks the same branch: add {task}, {jobId} or {workItem}.',
      ],
    },
    {
      mistake: 'a branch pattern that can be the same for two tasks',
      yaml: 'agents: { c: { workspace: { branch_pattern: "{agent}/{schedule}/{date}-{slug}" } } }\n',
      lines: [
        '1:45: agents.c.workspace.branch_pattern can give two tasks the same branch: add {task}, {jobId} or {workItem}.',
      ],
    },
    {
      mistake: 'incomplete and misspelt mappings where text would do as well',
      yaml: 'agents:\n  c:\n    working_directory: { rot: x }\n    permissions: al\nlanding:\n  checks:\n    test: { comand: x }\n    lint:\n    types: [a]\n',
      lines: [
        '3:5: agents.c.working_directory.root is missing.',
        '3:26: agents.c.working_directory.rot is not a known key. Did you mean root?',
        '4:18: agents.c.permissions must be ask, accept_edits, all, or a mapping with `allow`. Did you mean all?',
        '7:5: landing.checks.test.command is missing.',
        '7:13: landing.checks.test.comand is not a known key. Did you mean command?',
        '8:10: landing.checks.lint is missing.',
        '9:12: landing.checks.types must be a command line or a mapping with `command`.',
      ],
    },
    {
      mistake: 'schedules that say too little or too much',
      yaml: 'agents:\n  c:\n    schedules:\n      a: { type: intervl }\n      b: { interval: 5m }\n      c: { type: cron, cron: daily, interval: 5m }\n',
      lines: [
        '4:18: agents.c.schedules.a.type must be one of interval, cron. Did you mean interval?',
        '5:7: agents.c.schedules.b.type is missing: write one of interval, cron.',
        '6:10: agents.c.schedules.c needs `prompt` or `work_source`: otherwise its runs have no work.',
        '6:30: agents.c.schedules.c.cron must be a cron expression with five or six fields, such as "0 6 * * 1-5".',
        '6:37: agents.c.schedules.c.interval is not a known key. It goes with type: interval.',
      ],
    },
    {
      mistake: 'triggers without work, and with two secrets',
      yaml: 'agents: { c: {} }\ntriggers:\n  a: { agent: c }\n  b: { agent: c, prompt: x, secret_variable: A, secret_file: b }\n',
      lines: [
        '3:6: triggers.a needs `prompt` or `work_source`: otherwise its runs have no work.',
        '4:62: triggers.b.secret_file contradicts secret_variable: remove one of the two.',
      ],
    },
    {
      mistake: 'triggers that name no known agent or source',
      yaml: 'agents: { c: {} }\ntriggers:\n  a: { agent: d, prompt: x }\n  b: { agent: c, work_source: backlog }\n',
      lines: [
        '3:15: triggers.a.agent names an agent that is not under `agents`.',
        '4:31: triggers.b.work_source names a source that is not under `sources`.',
      ],
    },
    {
      mistake: 'a schedule that names no known source',
      yaml: 'agents:\n  c:\n    schedules:\n      a: { type: interval, interval: 5m, work_source: backlog }\n',
      lines: ['4:55: agents.c.schedules.a.work_source names a source that is not under `sources`.'],
    },
    {
      mistake: 'two opinions about the container',
      yaml: 'agents:\n  c:\n    sandbox: runtime\n    docker: { enabled: true }\n',
      lines: ['3:14: agents.c.sandbox contradicts docker.enabled: remove one of the two.'],
    },
    {
      mistake: 'names that cannot be used',
      yaml: 'agents:\n  a b: {}\n  c:\n    env: { A-B: x, VERSION: 1.10 }\n  d: 5\n',
      lines: [
        '2:3: agents."a b" is not a usable name: use letters, digits, ".", "_" and "-", beginning with a letter or digit.',
        '4:12: agents.c.env.A-B is not a usable name for an environment variable.',
        '4:29: agents.c.env.VERSION must be text: put it in quotes.',
        '5:6: agents.d must be a mapping of keys to values.',
      ],
    },
    {
      mistake: 'a mistake that arrives through a merge key is shown where it is written',
      yaml: 'agents:\n  a: &base\n    modle: x\n  b:\n    <<: *base\n',
      lines: [
        '3:5: agents.a.modle is not a known key. Did you mean model?',
        '3:5: agents.b.modle is not a known key. Did you mean model?',
      ],
    },
    { mistake: 'a list', yaml: '- a\n', lines: ['1:1: the file must be a mapping of keys to values.'] },
    { mistake: 'a sentence', yaml: 'hello', lines: ['1:1: the file must be a mapping of keys to values.'] },
    {
      mistake: 'a key written twice',
      yaml: 'landing: {}\nlanding: {}\n',
      lines: ['2:1: this key is already written above in the same mapping.'],
    },
    {
      mistake: 'a tab',
      yaml: 'landing:\n\tpush: true\n',
      lines: ['2:1: a tab cannot indent YAML: use spaces.'],
    },
    {
      mistake: 'a list that is not closed',
      yaml: 'agents:\n  a:\n    capabilities: [gpu\nlanding: {}\n',
      lines: ['4:1: a list that begins with [ is not closed with ].'],
    },
    {
      mistake: 'checks as a list',
      yaml: 'landing:\n  checks: [npm test]\n',
      lines: ['2:11: landing.checks must be a mapping of keys to values, such as { unit: npm test }.'],
    },
    {
      mistake: 'two documents',
      yaml: 'landing: {}\n---\npolicy: {}\n',
      lines: ['2:1: a second document begins here: keep one, without ---.'],
    },
    {
      mistake: 'an alias without anchor',
      yaml: 'landing: *base\n',
      lines: ['1:10: landing has an alias without an anchor before it.'],
    },
    {
      mistake: 'an alias that contains itself',
      yaml: 'workspace:\n  copy: &x [*x]\n',
      lines: ['2:13: workspace.copy[0] has an alias that contains itself.'],
    },
    {
      mistake: 'a tag',
      yaml: 'board: !secret x\n',
      lines: ['1:8: a tag has no meaning here: remove the word that begins with !.'],
    },
    {
      mistake: 'a quotation mark that is never closed, after CRLF lines',
      yaml: 'landing:\r\n  target: "main\r\n',
      lines: ['3:1: this is not valid YAML: missing closing "quote.'],
    },
    {
      mistake: 'a list item among keys, without what follows from it',
      yaml: 'policy:\n  max_agents: 1\n  - x\n',
      lines: ['3:1: a list item (-) cannot follow keys: write keys only, or list items only.'],
    },
    {
      mistake: 'the key that JavaScript treats specially',
      yaml: 'agents:\n  __proto__: {}\n',
      lines: ['2:3: agents.__proto__ is not a known key.'],
    },
  ];

  test.each(cases)('$mistake', ({ yaml, lines }) => {
    expect(rendered(yaml)).toEqual(lines.map((line) => `copse.yml:${line}`));
  });
});

// promise: passwords-hidden
describe('a password is never repeated', () => {
  test.each([
    'board: mysql://user:hunter2@host/db',
    'board: [postgres://user:hunter2@host/db]',
    'bord: postgres://user:hunter2@host/db',
    '"postgres://user:hunter2@host/db": x',
    'board: postgres://user:hunter2@host/db\n  oops: x',
    'board: "postgres://user:hunter2@host/db',
    'board: postgres://user:hunter2@host/db"\n- x',
    'notifications: { webhook: "ftp://user:hunter2@host" }',
    'board: *hunter2',
    `"postgres://user:hunter2${'x'.repeat(80)}@host/db": x`,
    'agents: { a: { env: { "https://u:hunter2@h": x } } }',
  ])('%s', (yaml) => {
    const lines = rendered(yaml);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('\n')).not.toContain('hunter2');
  });
});

/** Every fixed key, with the mapping it is written in. */
const knownKeys = describeConfig()
  .filter(({ key, variant }) => !key.endsWith('<name>') && !key.endsWith('.type') && variant === undefined)
  .map(({ key }) => key.replaceAll('<name>', 'it').split('.'));

test('a known key with one letter missing or two letters swapped is reported with the key that was meant', () => {
  const typo = fc.constantFrom(...knownKeys).chain((path) => {
    const key = path.at(-1) ?? '';
    return fc.record({
      container: fc.constant(path.slice(0, -1)),
      key: fc.constant(key),
      wrong: fc
        .nat({ max: key.length - 1 })
        .chain((at) =>
          fc.constantFrom(
            key.slice(0, at) + key.slice(at + 1),
            key.slice(0, at) + (key[at + 1] ?? '') + (key[at] ?? '') + key.slice(at + 2),
          ),
        ),
    });
  });
  const isKnown = new Set(knownKeys.map((path) => path.join('.')));
  fc.assert(
    fc.property(typo, ({ container, key, wrong }) => {
      const path = [...container, wrong];
      fc.pre(wrong !== '' && !isKnown.has(path.join('.')));
      const yaml = JSON.stringify(path.reduceRight<unknown>((below, part) => ({ [part]: below }), 'x'));
      const suggestions = parseFailing(yaml).filter((problem) => problem.path === path.join('.'));
      expect(suggestions.map(({ suggestion }) => suggestion)).toEqual([`Did you mean ${key}?`]);
    }),
    { numRuns: 2_000 },
  );
});

// promise: hostile-config-safe
test('parsing never throws, for any text', () => {
  const yamlish = fc
    .array(
      fc.constantFrom(
        'agents',
        'a',
        ':',
        ' ',
        '\n',
        '  ',
        '- ',
        '[',
        ']',
        '{',
        '}',
        '&x ',
        '*x',
        '<<: *x',
        '"',
        "'",
        '|',
        '!',
        '\t',
        '#',
        '---',
        ',',
        '0',
        '\uFEFF',
        '\r\n',
        '%',
        '? ',
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), yamlish), (text) => {
      const result = parseConfig(text, { file: 'copse.yml' });
      if (result.kind === 'valid') return;
      for (const problem of result.problems) {
        expect(renderProblem(problem)).toMatch(/^copse\.yml:\d+:\d+: /);
        expect(problem.line).toBeGreaterThan(0);
        expect(problem.column).toBeGreaterThan(0);
      }
    }),
    { numRuns: 3_000 },
  );
});

// promise: hostile-config-safe
test('deep nesting and multiplying aliases are refused quickly', () => {
  const tenfold = Array.from('bcdefgh', (letter, index) => {
    const before = Array.from({ length: 10 }, () => `*${'abcdefg'[index]}`);
    return `${letter}: &${letter} [${before.join(', ')}]`;
  });
  const startedAt = performance.now();
  expect(rendered(['a: &a [1]', ...tenfold].join('\n'))).toEqual([
    expect.stringContaining('the aliases of the file expand to too much.'),
  ]);
  expect(rendered('['.repeat(5_000) + ']'.repeat(5_000))[0]).toContain('the file is nested too deeply.');
  expect(rendered(`${'- '.repeat(200)}x`)[0]).toContain('the file is nested too deeply.');
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});

function parseFailing(yaml: string) {
  const result = parseConfig(yaml, { file: 'copse.yml' });
  return result.kind === 'valid' ? [] : result.problems;
}

function rendered(yaml: string): readonly string[] {
  return parseFailing(yaml).map(renderProblem);
}
