import * as z from 'zod';
import { runtimes } from '../agents/rules/runtimes.ts';
import { defaultPolicy } from '../kernel/policy.ts';
import { finishOverrides } from './finish.ts';
import { landingOverrides } from './landing.ts';
import { duration, formatDuration } from './quantities.ts';
import { rules } from './shape/rules.ts';
import { section } from './sections.ts';
import { schedule } from './intake/schedules.ts';
import { address, branch, command, environment, name, text } from './text.ts';
import { workspaceOverrides } from './workspace.ts';

const { agent, notifications } = defaultPolicy;
const HOOK_STEP = 'must be a command line, a mapping with `url`, or a list of these';

const workingDirectory = z
  .union(
    [
      text.transform(rules.changes.workingDirectory),
      z.strictObject({
        root: text.describe(
          'Path of the main checkout of the repository: absolute, from `~/`, or relative to the repository of `copse.yml`.',
        ),
        auto_clone: z
          .boolean()
          .describe('Clone the repository from `url` if the path does not exist.')
          .prefault(agent.autoClone),
        url: text.describe('Address to clone from, with `auto_clone`.').optional(),
        clone_depth: z
          .int()
          .min(1)
          .max(1_000_000)
          .describe('Commits of history to clone; default: all.')
          .optional(),
        default_branch: branch
          .describe('Branch that new work begins from and lands on there; default: detected.')
          .optional(),
      }),
    ],
    { error: 'must be a path or a mapping with `root`' },
  )
  .describe(
    'Another repository that the agent works in: a path, or a mapping with more settings; default: the repository of `copse.yml`. The agent takes only tasks that name it.',
  );

const limits = section(
  {
    time: duration.describe('Time one attempt may take.'),
    tokens: z.int().min(1).describe('Tokens one session may use.'),
    dollars: z.number().positive().describe('Dollars one session may cost.'),
  },
  {},
).describe('Limits that end a session early; its worktree stays.');

const permissions = z
  .union(
    [
      z.enum(['ask', 'accept_edits', 'all']),
      z.strictObject({ allow: z.array(text).describe('Tools the agent may use without asking.') }),
    ],
    { error: 'must be ask, accept_edits, all, or a mapping with `allow`' },
  )
  .describe(
    'What the agent may do without asking: nothing, edit files, everything, or the tools under `allow`.',
  );

const hookCall = z.strictObject({
  url: address.describe(
    'Address that gets the outcome as a JSON POST; it must answer with a status of 200 to 299.',
  ),
  timeout: duration
    .describe('Time within which it must answer.')
    .prefault(formatDuration(notifications.sendMs)),
});

/** Commands and calls, one after another; a single one needs no list. */
const hookSteps = z
  .union([text, hookCall, z.array(z.union([text, hookCall], { error: HOOK_STEP }))], { error: HOOK_STEP })
  .transform(rules.changes.steps);

const hooks = section(
  {
    before_run: hookSteps.describe('Before the first turn of each attempt. A failure ends the attempt.'),
    after_run: hookSteps.describe('After an attempt that finished, before its work lands.'),
    on_error: hookSteps.describe(
      'After an attempt that failed in any way: set-up, `before_run`, a crash, a limit, stuck, or work that needs attention.',
    ),
  },
  { before_run: [], after_run: [], on_error: [] },
).describe(
  'Commands that run in the workspace, and addresses that are called, around each attempt. Commands read the outcome as JSON from their standard input.',
);

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
      .enum(runtimes)
      .describe('What runs the agent; default: `command` if one is given, else the first installed runtime.'),
    command: command.describe(
      'Program of the runtimes `command` and `acp`: a shell command, or a list of program and arguments.',
    ),
    prompt_by: z
      .enum(['file', 'stdin', 'argument'])
      .describe('How the program of runtime `command` gets its prompt.'),
    model: text.describe('Model, as the runtime names it.'),
    system_prompt: text.describe('Text that is added to the runtime’s system prompt.'),
    capabilities: z
      .array(text)
      .describe('What the agent can do; tasks that require more go to other agents.'),
    max: z
      .int()
      .min(1)
      .max(1_000)
      .describe('Sessions of this agent at once; default: only `policy.max_agents` limits them.'),
    terminal: z
      .enum(['headless', 'tmux'])
      .describe('Run without a terminal, or in a tmux session for `copse attach`.'),
    working_directory: workingDirectory,
    workspace: workspaceOverrides.describe(
      'Overrides of the top-level `workspace` for this agent; same keys.',
    ),
    landing: landingOverrides.describe(
      'Overrides of the top-level `landing` for this agent: `policy`, `method`, `target`, `on_conflict`.',
    ),
    finish: finishOverrides.describe('Overrides of the top-level `finish` for this agent; same keys.'),
    limits,
    permissions,
    sandbox: z
      .enum(['none', 'runtime', 'docker'])
      .describe('Sandbox of the agent’s processes; a sandbox that is not available is an error.'),
    sandbox_hosts: z
      .array(text)
      .describe(
        'More hosts that an agent with `sandbox: runtime` may reach, besides those of its model, such as `packages.example.com` or `127.0.0.1:5173`.',
      ),
    sandbox_write: z
      .array(text)
      .describe(
        'More folders and files that an agent in a sandbox may write, besides its worktree; relative to the repository, or from `~/`.',
      ),
    sandbox_read: z
      .array(text)
      .describe(
        'Folders and files that an agent in a sandbox may read although they are hidden: `.copse`, other worktrees, `~/.ssh`, `~/.aws` and the like; relative to the repository, or from `~/`.',
      ),
    env: environment.describe('Environment variables for the agent’s processes.'),
    pass_env: z
      .array(text)
      .describe(
        'Variables of yours that the agent gets although they open a remote or another provider, such as `GH_TOKEN` or `SSH_AUTH_SOCK`; without this it gets the others only.',
      ),
    schedules: z.record(name, schedule).describe('Schedules on which the agent starts, by name.'),
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
    sandbox_read: [],
    env: {},
    pass_env: [],
    schedules: {},
    hooks: {},
    docker: {},
  },
)
  .check(rules.checks.sandboxAgrees)
  .describe('One way to do work: runtime, model, prompt, capabilities and rules.');

/** An agent without settings has every default. */
export const agents = z.record(name, agentSection.prefault({}));
