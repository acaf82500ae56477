import * as z from 'zod';
import { defaultPolicy } from '../kernel/policy.ts';
import { finishOverrides } from './finish.ts';
import { landingOverrides } from './landing.ts';
import { duration } from './quantities.ts';
import { rules } from './shape/rules.ts';
import { section } from './sections.ts';
import { schedule } from './sources.ts';
import { branch, command, commandLines, environment, name, text } from './text.ts';
import { workspaceOverrides } from './workspace.ts';

const { agent } = defaultPolicy;

const workingDirectory = z
  .union(
    [
      text.transform(rules.changes.workingDirectory),
      z.strictObject({
        root: text.describe('Path of the repository.'),
        auto_clone: z
          .boolean()
          .describe('Clone the repository when the path does not exist.')
          .prefault(agent.autoClone),
        clone_depth: z
          .int()
          .min(1)
          .max(1_000_000)
          .describe('Commits of history to clone; without it all of them.')
          .optional(),
        default_branch: branch
          .describe('Base branch of new work; without it the base branch is detected.')
          .optional(),
      }),
    ],
    { error: 'must be a path or a mapping with `root`' },
  )
  .describe(
    'Repository the agent works on: a path, or a mapping with more detail; without it the one `copse.yml` is in.',
  );

const limits = section(
  {
    time: duration.describe('Time one attempt may take.'),
    tokens: z.int().min(1).describe('Tokens one session may use.'),
    dollars: z.number().positive().describe('Dollars one session may cost.'),
  },
  {},
).describe('What ends a session early; the work is kept.');

const permissions = z
  .union(
    [
      z.enum(['ask', 'accept_edits', 'all']),
      z.strictObject({ allow: z.array(text).describe('Tools the agent may use without asking.') }),
    ],
    { error: 'must be ask, accept_edits, all, or a mapping with `allow`' },
  )
  .describe(
    'What the agent may do unasked: nothing, edit files, everything, or a list of tools under `allow`.',
  );

const hooks = section(
  {
    before_run: commandLines.describe('Before each attempt.'),
    after_run: commandLines.describe('After an attempt that ended well.'),
    on_error: commandLines.describe('After an attempt that did not.'),
  },
  { before_run: [], after_run: [], on_error: [] },
).describe('Commands that run in the workspace around each attempt.');

const docker = section(
  {
    enabled: z.boolean().describe('Run the agent in a container; the same as `sandbox: docker`.'),
    image: text.describe('Container image that has the agent’s program.'),
    env: environment.describe('Environment variables inside the container.'),
  },
  { enabled: agent.dockerEnabled, env: {} },
).describe('The container of an agent with `sandbox: docker`.');

const agentSection = section(
  {
    runtime: z
      .enum(['claude-sdk', 'claude', 'codex', 'gemini', 'opencode', 'acp', 'command'])
      .describe(
        'What runs the agent; without it `command` when there is one, else the first runtime found installed.',
      ),
    command: command.describe(
      'Program of the runtimes `command` and `acp`: a line for the shell, or a list of program and arguments.',
    ),
    prompt_by: z
      .enum(['file', 'stdin', 'argument'])
      .describe('How the program of runtime `command` gets its prompt.'),
    model: text.describe('Model, as the runtime names it.'),
    system_prompt: text.describe('Text that is added to the runtime’s system prompt.'),
    capabilities: z
      .array(text)
      .describe('What the agent can do; a task that requires more goes to another agent.'),
    max: z
      .int()
      .min(1)
      .max(1_000)
      .describe(
        'How many sessions of this agent may run at once; without it `policy.max_agents` alone decides.',
      ),
    terminal: z
      .enum(['headless', 'tmux'])
      .describe('Run without a terminal, or inside a tmux session that `copse attach` joins.'),
    working_directory: workingDirectory,
    workspace: workspaceOverrides.describe(
      'What differs from the top-level `workspace` for this agent; takes the same keys.',
    ),
    landing: landingOverrides.describe(
      'What differs from the top-level `landing` for this agent’s work: `policy`, `method`, `target`, `on_conflict`.',
    ),
    finish: finishOverrides.describe(
      'What differs from the top-level `finish` for this agent; takes the same keys.',
    ),
    limits,
    permissions,
    sandbox: z
      .enum(['none', 'runtime', 'docker'])
      .describe(
        'What confines the agent’s processes; one that is not available is an error, never silently none.',
      ),
    sandbox_hosts: z
      .array(text)
      .describe(
        'Hosts that an agent with `sandbox: runtime` may reach beyond those of its model, such as `packages.example.com` or `127.0.0.1:5173`.',
      ),
    sandbox_write: z
      .array(text)
      .describe(
        'Folders and files that an agent in a sandbox may write beyond its worktree; relative to the repository, or from `~/`.',
      ),
    env: environment.describe('Environment variables for the agent’s processes.'),
    schedules: z.record(name, schedule).describe('When the agent starts by itself, by name.'),
    hooks,
    docker,
  },
  {
    prompt_by: agent.promptBy,
    capabilities: [],
    terminal: agent.terminal,
    workspace: {},
    landing: {},
    finish: {},
    limits: {},
    permissions: agent.permissions,
    sandbox_hosts: [],
    sandbox_write: [],
    env: {},
    schedules: {},
    hooks: {},
    docker: {},
  },
)
  .check(rules.checks.sandboxAgrees)
  .describe('One way to do work: runtime, model, prompt, capabilities and rules.');

/** An agent with nothing written under its name is an agent with every default. */
export const agents = z.record(name, agentSection.prefault({}));
