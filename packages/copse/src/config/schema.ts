/**
 * The one definition of `copse.yml`. Validation, the types, the JSON Schema for editors and the reference page all
 * come from it.
 *
 * A parsed `Config` keeps the names of the file. Quantities are plain numbers by then: durations in milliseconds,
 * sizes in bytes, percentages as shares between 0 and 1. `workspace`, `landing` and `finish` of an agent hold only its
 * overrides; `effectiveAgent` merges them over the defaults.
 */
import * as z from 'zod';
import { agents } from './agents.ts';
import { finishSection } from './finish.ts';
import { landingSection } from './landing.ts';
import { rules } from './shape/rules.ts';
import { section } from './sections.ts';
import { triggers } from './intake/schedules.ts';
import { source } from './sources.ts';
import { name } from './text.ts';
import { maintenanceSection, notificationsSection, policySection } from './upkeep.ts';
import { workspaceSection } from './workspace.ts';

export const configSchema = section(
  {
    board: z
      .string()
      .regex(/^postgres(ql)?:\/\/\S+$/, { error: 'must be an address that begins with postgres://' })
      .describe(
        'PostgreSQL address of a board for several machines, as `postgres://user@host/database?schema=name&sslmode=verify-full` (guides/postgres.md); default: a file in the repository’s `.copse` folder.',
      ),
    agents: agents.describe('Agents by name.'),
    workspace: workspaceSection.describe('Where sessions work, unless an agent overrides it.'),
    finish: finishSection.describe('Requirements for finished work.'),
    landing: landingSection.describe('How finished work lands on the target branch.'),
    policy: policySection.describe('Limits of the orchestrator.'),
    maintenance: maintenanceSection.describe(
      'What an orchestrator removes; `copse sweep --dry-run` shows it.',
    ),
    notifications: notificationsSection.describe('How people are notified.'),
    triggers: triggers.describe(
      'What starts an agent on request, by name: `copse trigger`, or a signed request.',
    ),
    sources: z.record(name, source).describe('Sources of work items, by name (guides/sources.md).'),
  },
  {
    agents: {},
    workspace: {},
    finish: {},
    landing: {},
    policy: {},
    maintenance: {},
    notifications: {},
    triggers: {},
    sources: {},
  },
).check(rules.checks.namesAreKnown);

export type Config = z.output<typeof configSchema>;
export type AgentConfig = Config['agents'][string];
