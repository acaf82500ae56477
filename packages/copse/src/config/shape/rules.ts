/** What copse.yml means beyond the form of its values, as functions with names: the schema and its shape share them. */

import { DAY, GIGABYTE, HOUR, KILOBYTE, MEGABYTE, MINUTE, SECOND } from '../../kernel/limits.ts';
import { defaultPolicy } from '../../kernel/policy.ts';

export const MS_PER_UNIT = { d: DAY, h: HOUR, m: MINUTE, s: SECOND, ms: 1 } as const;
export const BYTES_PER_UNIT = { GB: GIGABYTE, MB: MEGABYTE, KB: KILOBYTE } as const;

/** From the form in the file to the one in a `Config`. */
const changes = {
  milliseconds: (text: string) => scale(text, MS_PER_UNIT),
  bytes: (text: string) => scale(text, BYTES_PER_UNIT),
  share: (text: string) => Number.parseInt(text, 10) / 100,
  zero: () => 0,
  lines: (lines: string | string[]) => (typeof lines === 'string' ? [lines] : lines),
  steps: <T>(steps: T | T[]) => (Array.isArray(steps) ? steps : [steps]),
  check: (line: string) => ({ command: line, timeout: defaultPolicy.landing.checkTimeoutMs, env: {} }),
  workingDirectory: (root: string) => ({ root, auto_clone: defaultPolicy.agent.autoClone }),
};

/** What several values must be together. */
const checks = {
  sandboxAgrees: ({ value, issues }: Checked<Agent>) => {
    if (!value.docker.enabled || value.sandbox === undefined || value.sandbox === 'docker') return;
    complain(issues, ['sandbox'], value.sandbox, 'contradicts docker.enabled: remove one of the two');
  },
  timesAgree: ({ value, issues }: Checked<Times>) => {
    if (value.lease_renewal >= value.lease)
      complain(issues, ['lease_renewal'], value, 'must be shorter than policy.lease');
    if (value.first_backoff > value.max_backoff)
      complain(issues, ['first_backoff'], value, 'must not be longer than policy.max_backoff');
  },
  namesAreKnown: ({ value, issues }: Checked<WithSchedules>) => {
    const named = Object.entries(value.agents).flatMap(([agent, { schedules }]) =>
      Object.entries(schedules).map(([schedule, { work_source: from }]) => ({
        path: ['agents', agent, 'schedules', schedule, 'work_source'],
        from,
      })),
    );
    for (const [trigger, { work_source: from }] of Object.entries(value.triggers))
      named.push({ path: ['triggers', trigger, 'work_source'], from });
    for (const { path, from } of named)
      if (typeof from === 'string' && !Object.hasOwn(value.sources, from))
        complain(issues, path, from, 'names a source that is not under `sources`');
    for (const [trigger, { agent }] of Object.entries(value.triggers))
      if (!Object.hasOwn(value.agents, agent))
        complain(issues, ['triggers', trigger, 'agent'], agent, 'names an agent that is not under `agents`');
  },
  hasWork: ({ value, issues }: Checked<Work>) => {
    if (value.prompt === undefined && value.work_source === undefined)
      complain(issues, [], value, 'needs `prompt` or `work_source`: otherwise its runs have no work');
  },
  hasSecret: ({ value, issues }: Checked<Secret>) => {
    if (value.secret_variable !== undefined && value.secret_file !== undefined)
      complain(
        issues,
        ['secret_file'],
        value.secret_file,
        'contradicts secret_variable: remove one of the two',
      );
  },
};

export const rules = { changes, checks };

interface Checked<T> {
  readonly value: T;
  readonly issues: Issues;
}

interface Issues {
  push(issue: { code: 'custom'; path: string[]; input: unknown; message: string }): unknown;
}

interface Agent {
  readonly docker: { readonly enabled: boolean };
  readonly sandbox?: string | undefined;
}

interface Times {
  readonly lease: number;
  readonly lease_renewal: number;
  readonly first_backoff: number;
  readonly max_backoff: number;
}

interface Work {
  readonly prompt?: string | undefined;
  readonly work_source?: unknown;
}

interface Secret {
  readonly secret_variable?: string | undefined;
  readonly secret_file?: string | undefined;
}

interface WithSchedules {
  readonly agents: Readonly<Record<string, { readonly schedules: Readonly<Record<string, Work>> }>>;
  readonly triggers: Readonly<Record<string, Work & { readonly agent: string }>>;
  readonly sources: object;
}

function complain(issues: Issues, path: string[], input: unknown, message: string): void {
  issues.push({ code: 'custom', path, input, message });
}

function scale(text: string, units: Readonly<Record<string, number>>): number {
  const amount = Number.parseInt(text, 10);
  const factor = units[text.slice(String(amount).length)];
  if (factor === undefined) throw new Error(`${text} passed its pattern but has no known unit`);
  return amount * factor;
}
