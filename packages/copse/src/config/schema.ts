/**
 * The one definition of `copse.yml`. Validation, the types, the JSON Schema for editors and the reference page all
 * come from it.
 *
 * A parsed `Config` keeps the names of the file. Quantities are plain numbers by then: durations in milliseconds,
 * sizes in bytes, percentages as shares between 0 and 1. What an agent writes under `workspace`, `landing` and
 * `finish` is only what differs for it; `effectiveAgent` puts the two together.
 */
import * as z from 'zod';
import { agents } from './agents.ts';
import { finishSection } from './finish.ts';
import { landingSection } from './landing.ts';
import { rules } from './shape/rules.ts';
import { section } from './sections.ts';
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
        'PostgreSQL address of a board that several machines share; without it the board is a file beside the repository.',
      ),
    agents: agents.describe('Agents by name.'),
    workspace: workspaceSection.describe('Where sessions work, for every agent that says nothing else.'),
    finish: finishSection.describe('What must be true before a session may end as finished.'),
    landing: landingSection.describe('How finished work gets onto the target branch.'),
    policy: policySection.describe('Limits of the orchestrator.'),
    maintenance: maintenanceSection.describe('What is cleaned up by itself, and when.'),
    notifications: notificationsSection.describe('How people hear that they are needed.'),
    sources: z.record(name, source).describe('Places that work items come from, by name.'),
  },
  {
    agents: {},
    workspace: {},
    finish: {},
    landing: {},
    policy: {},
    maintenance: {},
    notifications: {},
    sources: {},
  },
).check(rules.checks.sourcesAreKnown);

export type Config = z.output<typeof configSchema>;
export type AgentConfig = Config['agents'][string];
