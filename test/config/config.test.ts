import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';
import { configJsonSchema, describeConfig } from '../../packages/copse/src/config/problems/describe.ts';
import { effectiveAgent, policyFrom } from '../../packages/copse/src/config/effective.ts';
import { flattenConfig } from '../../packages/copse/src/config/problems/flatten.ts';
import { defaultConfig, parseConfig } from '../../packages/copse/src/config/parse.ts';
import { renderProblem } from '../../packages/copse/src/config/problems/problems.ts';
import { formatDuration, formatSize } from '../../packages/copse/src/config/quantities.ts';
import { readYaml } from '../../packages/copse/src/config/problems/read.ts';
import { exampleConfig, generateConfigReference } from '../../scripts/generate-config-reference.ts';

const everyKey = `
board: postgres://copse:secret@db.example/copse
agents:
  coder: &coder
    runtime: claude-sdk
    command: [my-agent, --fast]
    prompt_by: stdin
    model: large
    system_prompt: Be careful.
    capabilities: [typescript, sql]
    max: 3
    terminal: tmux
    working_directory: { root: ../other, auto_clone: true, url: ../origin, clone_depth: 1, default_branch: trunk }
    workspace:
      strategy: static
      worktree_dir: trees
      branch_pattern: 'agent/{agent}/{workItem}-{jobId}-{date}-{schedule}'
      fetch_before_setup: false
      push_on_success: true
      share_work: false
      create_pr: true
      cleanup_on_failure: true
      commit_message: 'wip: {summary}'
      on_push_failure: warn
      copy: [.env]
      link: [node_modules]
      sparse: [packages/web]
      setup: npm ci
      teardown: [docker compose down, rm -rf tmp]
      command_timeout: 90s
      pool: 4
    landing: { policy: pr, method: squash, target: release/1.x, on_conflict: task }
    finish: { on_dirty: commit, commit_convention: require, accept: npm test }
    limits: { time: 2h, tokens: 1000000, dollars: 12.5 }
    permissions: { allow: [Read, Bash] }
    sandbox: docker
    sandbox_hosts: [registry.example.org]
    sandbox_write: [~/.cache]
    sandbox_read: [~/.netrc]
    pass_env: [GH_TOKEN]
    env: { API_URL: 'http://127.0.0.1', EMPTY: '' }
    schedules:
      issues: { type: interval, interval: 5m, work_source: { type: github, repo: o/r }, prompt: Look. }
      nightly: { type: cron, cron: '0 3 * * *', time_zone: Europe/Berlin, work_source: todo, missed: once, overlap: queue }
    hooks:
      before_run: { url: 'https://hooks.example.org/secret', timeout: 2s }
      after_run: { url: 'https://hooks.example.org/secret', timeout: 2s }
      on_error: { url: 'https://hooks.example.org/secret', timeout: 2s }
    docker: { enabled: true, image: node, env: { A: b } }
  reviewer:
    <<: *coder
    runtime: codex
    permissions: ask
    working_directory: ../third
  bare:
workspace:
  strategy: git_worktree
  worktree_dir: .worktrees
  branch_pattern: '{task}/{slug}'
  fetch_before_setup: true
  push_on_success: false
  share_work: true
  create_pr: false
  cleanup_on_failure: false
  commit_message: 'agent: {summary}'
  on_push_failure: fail
  copy: []
  link: []
  sparse: []
  setup: []
  teardown: []
  command_timeout: 500ms
  pool: auto
finish: { on_dirty: fail, commit_convention: off, accept: [npm test] }
landing:
  policy: review
  method: merge
  target: main
  on_conflict: skip
  checks:
    test: npm test
    lint: { command: [npm, run, lint], timeout: 5m, env: { CI: '1' }, working_directory: packages/web }
  sandbox: runtime
  sandbox_hosts: [registry.example.org]
  sandbox_write: [~/.cache]
  pass_env: [NPM_TOKEN]
  slots: 8
  every_commit_green: true
  push: true
  on_push_failure: retry
  forge: github
  lockfiles: { package-lock.json: npm install --package-lock-only }
  merge_drivers: { '*.json': [json-merge, '%O', '%A', '%B'] }
policy:
  max_agents: 15
  max_retries: 0
  max_stuck_restarts: 1
  poll_interval: 1s
  lease: 1m
  lease_renewal: 10s
  first_backoff: 0
  max_backoff: 10m
  min_free_memory: 512MB
  min_free_disk: 10GB
  drain_within: 20m
  context_handoff: 70%
  snapshot_every: 30s
  handbacks: { conflict: 3, dirty: 1, nothing_committed: 2, no_artifact: 3, not_imported: 7, branch: 2, commit_message: 0, accept: 4, checks: 5, unfit: 6 }
maintenance:
  max_disk: 20GB
  worktree_cleanup:
    enabled: false
    interval: 12h
    max_worktree_age: 14d
    max_abandoned_age: 2h
    cleanup_on_startup: false
    prune_unmerged_branches: true
  session_cleanup: { enabled: false, interval: 30m }
notifications: { desktop: false, bell: false, webhook: 'https://hooks.example/T0KEN', events: [stuck, landed], repeat_interval: 5m }
triggers:
  deploy: { agent: coder, type: hmac, secret_variable: DEPLOY_SECRET, prompt: Look. }
  issues: { agent: coder, type: github, secret_file: ~/hook-key, work_source: todo }
sources:
  todo: { type: markdown, files: [TODO.md], interval: 5m, on_closed: cancel }
  bugs:
    type: github
    repo: owner/name
    label: agent
    only_from: [ann]
    status_comments: false
    status_labels: true
    interval: 5m
    on_closed: keep
  issues:
    type: gitlab
    project: group/sub/name
    label: agent
    only_from: [ann]
    status_comments: false
    status_labels: true
    interval: 5m
    on_closed: keep
  board:
    type: linear
    team: ENG
    label: agent
    only_from: [ann]
    status_comments: true
    interval: 5m
    on_closed: keep
  other: { type: command, command: ./items, timeout: 30s, only_from: [ann], interval: 5m, on_closed: keep }
`;

function parse(text: string) {
  const result = parseConfig(text, { file: 'copse.yml' });
  if (result.kind === 'invalid') throw new Error(result.problems.map(renderProblem).join('\n'));
  return result;
}

describe('the accepted form', () => {
  test('every key is accepted, and the example misses none', () => {
    const written = new Set<string>();
    collectKeys(parse(everyKey).written, [], written);
    const missing = describeConfig()
      .map(({ key }) => key)
      .filter(
        (key) => !key.endsWith('<name>') && !key.startsWith('agents.<name>.schedules.<name>.work_source.'),
      )
      .filter((key) => {
        const pattern = new RegExp(`^${key.replaceAll('.', '\\.').replaceAll('<name>', '[^.]+')}$`);
        return ![...written].some((path) => pattern.test(path));
      });
    expect(missing).toEqual([]);
  });

  test('the JSON Schema accepts what Copse accepts, and refuses what Copse refuses', () => {
    const forEditors = configJsonSchema() as JsonSchema;
    expect(conforms(readYaml(everyKey).value, forEditors)).toBe(true);
    for (const text of [
      'landng: {}',
      'landing: { method: rebse }',
      'policy: { lease: 30 }',
      'policy: { lease: 30 seconds }',
      'agents: { a: { wrkspace: {} } }',
      'workspace: { branch_pattern: "{tsk}" }',
      'sources: { a: { type: jira } }',
      'landing: { checks: { test: { timeout: 5m } } }',
    ]) {
      const refusedBy = {
        text,
        editors: !conforms(readYaml(text).value, forEditors),
        copse: parseConfig(text, { file: 'copse.yml' }).kind === 'invalid',
      };
      expect(refusedBy).toEqual({ text, editors: true, copse: true });
    }
  });

  test('the example of the reference page is valid', () => {
    expect(parse(exampleConfig).config.policy.max_agents).toBe(6);
  });

  test('quantities become milliseconds, bytes and shares', () => {
    const { config } = parse(everyKey);
    expect(config.policy.lease).toBe(60_000);
    expect(config.policy.first_backoff).toBe(0);
    expect(config.policy.min_free_memory).toBe(512 * 1024 ** 2);
    expect(config.policy.context_handoff).toBe(0.7);
    expect(config.workspace.command_timeout).toBe(500);
    expect(config.maintenance.worktree_cleanup.max_worktree_age).toBe(14 * 86_400_000);
  });

  // setting: landing.checks.<name>, agents.<name>.hooks.on_error, agents.<name>.working_directory
  test('a short form means the same as the full form', () => {
    const short =
      'landing: { checks: { test: npm test } }\nagents: { a: { working_directory: ../x, hooks: { on_error: y, after_run: { url: "https://h.example.org/x", timeout: 5s } } } }';
    const full =
      'landing: { checks: { test: { command: npm test } } }\nagents: { a: { working_directory: { root: ../x }, hooks: { on_error: [y], after_run: [{ url: "https://h.example.org/x" }] } } }';
    expect(parse(short).config).toEqual(parse(full).config);
  });

  test('anchors, aliases and merge keys work, and a key beside a merge wins', () => {
    const { agents } = parse(everyKey).config;
    expect(agents['reviewer']).toMatchObject({ runtime: 'codex', model: 'large', permissions: 'ask' });
  });

  test.each([
    ['an empty file', ''],
    ['only comments', '# nothing yet\n\n# here\n'],
    ['only a document mark', '---\n'],
    ['sections with nothing in them', 'agents:\nlanding:\n  # policy: review\npolicy:\n  handbacks:\n'],
    ['a byte order mark', '\uFEFFlanding: {}\n'],
    ['CRLF lines', 'landing:\r\n  policy: auto\r\n'],
  ])('%s gives the defaults', (_, text) => {
    expect(parse(text).config).toEqual(defaultConfig());
  });

  test('a place after a byte order mark is counted from the first visible character', () => {
    const result = parseConfig('\uFEFFlandng: {}', { file: 'copse.yml' });
    expect(result.kind === 'valid' ? [] : result.problems.map(({ line, column }) => [line, column])).toEqual([
      [1, 1],
    ]);
  });
});

describe('the meaning', () => {
  test('the defaults are those of the policy', () => {
    expect(policyFrom(defaultConfig())).toEqual(defaultPolicy);
    const { workspace, landing, finish, notifications } = defaultConfig();
    expect(workspace).toMatchObject({
      strategy: 'git_worktree',
      branch_pattern: defaultPolicy.naming.branchPattern,
    });
    expect(landing).toMatchObject({
      policy: defaultPolicy.landing.policy,
      method: defaultPolicy.landing.method,
    });
    expect(finish).toEqual({ on_dirty: 'handback', commit_convention: 'warn', accept: [] });
    expect(notifications.events).toEqual(defaultPolicy.notifications.events);
  });

  // setting: policy.max_retries, policy.max_stuck_restarts, policy.poll_interval, policy.lease, policy.lease_renewal
  // setting: policy.first_backoff, policy.max_backoff, policy.drain_within, policy.context_handoff, policy.snapshot_every
  test('every number a file may change reaches the policy', () => {
    const policy = policyFrom(parse(everyKey).config);
    expect(policy).toMatchObject({
      lease: { durationMs: 60_000, renewEveryMs: 10_000 },
      orchestration: {
        maxAgents: 15,
        pollIntervalMs: 1_000,
        minFreeMemoryBytes: 512 * 1024 ** 2,
        minFreeDiskBytes: 10 * 1024 ** 3,
      },
      nodes: { drainMs: 1_200_000 },
      travel: { everyMs: 30_000 },
      workspace: { commandTimeoutMs: 500 },
      notifications: { repeatMs: 300_000 },
      retry: { maxRetries: 0, maxStuckRestarts: 1, firstBackoffMs: 0, maxBackoffMs: 600_000 },
      handback: {
        conflict: 3,
        dirty: 1,
        nothing_committed: 2,
        no_artifact: 3,
        not_imported: 7,
        branch: 2,
        commit_message: 0,
        accept: 4,
        checks: 5,
        unfit: 6,
      },
      session: { contextHandoffShare: 0.7 },
      landing: { checkSlots: 8 },
      maintenance: {
        worktreeCleanup: false,
        cleanupOnStartup: false,
        pruneUnmergedBranches: true,
        sweepEveryMs: 43_200_000,
        finishedWorktreeAgeMs: 14 * 86_400_000,
        abandonedWorktreeAgeMs: 7_200_000,
        sessionCleanup: false,
        sessionCleanupEveryMs: 1_800_000,
        maxDiskBytes: 20 * 1024 ** 3,
      },
    });
  });

  test('an agent inherits settings that it does not set', () => {
    const { config } = parse(
      'workspace: { copy: [.env], pool: 2 }\nagents: { a: { command: x, workspace: { pool: 0 } } }',
    );
    const agent = effectiveAgent(config, 'a');
    expect(agent?.workspace).toEqual({ ...config.workspace, copy: ['.env'], pool: 0 });
    expect(agent?.landing).toEqual(config.landing);
    expect(agent).toMatchObject({ name: 'a', runtime: 'command', sandbox: 'none' });
    expect(effectiveAgent(config, 'toString')).toBeUndefined();
  });

  // setting: agents.<name>.docker.enabled
  test('docker.enabled is the same as sandbox: docker', () => {
    const { config } = parse('agents: { a: { docker: { enabled: true } } }');
    expect(effectiveAgent(config, 'a')?.sandbox).toBe('docker');
  });
});

describe('the configuration in force, row by row', () => {
  test('has the source of every value, in the form of copse.yml', () => {
    const rows = flattenConfig(parse('policy:\n  lease: 1m\nagents:\n  a:\n    max: 2\n').written);
    const row = (key: string) => rows.find((candidate) => candidate.key === key);
    expect(row('policy.lease')).toEqual({ key: 'policy.lease', value: '1m', from: 'copse.yml' });
    expect(row('policy.poll_interval')).toEqual({
      key: 'policy.poll_interval',
      value: '5s',
      from: 'default',
    });
    expect(row('agents.a.max')).toEqual({ key: 'agents.a.max', value: 2, from: 'copse.yml' });
    expect(row('agents.a.terminal')).toEqual({
      key: 'agents.a.terminal',
      value: 'headless',
      from: 'default',
    });
    expect(row('landing.target')).toBeUndefined();
  });

  test('an empty configuration has only defaults', () => {
    expect(new Set(flattenConfig({}).map(({ from }) => from))).toEqual(new Set(['default']));
  });

  // promise: passwords-hidden
  test('secrets are not shown', () => {
    const rows = flattenConfig(parse(everyKey).written);
    expect(rows.find(({ key }) => key === 'board')?.value).toBe('postgres://***@db.example/copse');
    expect(rows.find(({ key }) => key === 'agents.coder.env.API_URL')?.value).toBe('(hidden)');
    expect(JSON.stringify(rows.map(({ value }) => value))).not.toMatch(/T0KEN|secret/);
  });
});

test('a printed quantity is read back as the same', () => {
  expect([0, 1, 1_500, 90_000, 3_600_000, 604_800_000].map(formatDuration)).toEqual([
    '0',
    '1ms',
    '1500ms',
    '90s',
    '1h',
    '7d',
  ]);
  expect([1024, 512 * 1024 ** 2, 2 * 1024 ** 3].map(formatSize)).toEqual(['1KB', '512MB', '2GB']);
});

test('every key has a description', () => {
  expect(describeConfig().filter(({ description }) => !/^[A-Z].*\.$/.test(description))).toEqual([]);
});

test('the JSON Schema and the reference page are up to date', () => {
  const stale = generateConfigReference()
    .filter(({ path, content }) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8') !== content)
    .map(({ path }) => `${path} is stale: run scripts/generate-config-reference.ts`);
  expect(stale).toEqual([]);
});

function collectKeys(value: unknown, path: readonly string[], into: Set<string>): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const [key, below] of Object.entries(value)) {
    into.add([...path, key].join('.'));
    collectKeys(below, [...path, key], into);
  }
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** As much of JSON Schema as the generated file uses; a keyword beyond that throws, so that none goes unchecked. */
function conforms(value: unknown, schema: JsonSchema): boolean {
  const mapping = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  return Object.entries(schema).every(([keyword, rule]) => {
    const rules = rule as readonly JsonSchema[];
    switch (keyword) {
      case 'type':
        return [rule].flat().includes(typeName(value)) || (rule === 'number' && typeof value === 'number');
      case 'const':
        return value === rule;
      case 'enum':
        return (rule as readonly unknown[]).includes(value);
      case 'pattern':
        return typeof value !== 'string' || new RegExp(rule as string, 'u').test(value);
      case 'minLength':
        return typeof value !== 'string' || value.length >= (rule as number);
      case 'maxLength':
        return typeof value !== 'string' || value.length <= (rule as number);
      case 'minItems':
        return !Array.isArray(value) || value.length >= (rule as number);
      case 'minimum':
        return typeof value !== 'number' || value >= (rule as number);
      case 'exclusiveMinimum':
        return typeof value !== 'number' || value > (rule as number);
      case 'maximum':
        return typeof value !== 'number' || value <= (rule as number);
      case 'items':
        return !Array.isArray(value) || value.every((item) => conforms(item, rule as JsonSchema));
      case 'required':
        return mapping === undefined || (rule as readonly string[]).every((key) => key in mapping);
      case 'propertyNames':
        return Object.keys(mapping ?? {}).every((key) => conforms(key, rule as JsonSchema));
      case 'properties':
        return Object.entries(rule as Readonly<Record<string, JsonSchema>>).every(
          ([key, below]) =>
            mapping === undefined || !(key in mapping) || conforms(Reflect.get(mapping, key), below),
        );
      case 'additionalProperties': {
        const known = Object.keys(schema['properties'] ?? {});
        return Object.entries(mapping ?? {}).every(
          ([key, below]) => known.includes(key) || (rule !== false && conforms(below, rule as JsonSchema)),
        );
      }
      case 'allOf':
        return rules.every((option) => conforms(value, option));
      case 'anyOf':
        return rules.some((option) => conforms(value, option));
      case 'oneOf':
        return rules.filter((option) => conforms(value, option)).length === 1;
      case '$schema':
      case 'title':
      case 'description':
      case 'default':
      case 'format':
      case 'writeOnly':
        return true;
      default:
        throw new Error(`this check does not know the keyword ${keyword}`);
    }
  });
}

function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
