/** The pages of `copse help <topic>`, made from the tables that decide the same things. */

import { runtimes, vendorRuntimes } from '../../agents/rules/runtimes.ts';
import { landingPolicies } from '../../config/landing.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { spanText } from '../../kernel/time.ts';
import { mergeMethods } from '../../queue/rules/landing.ts';
import { type TaskStatus, statusCommands, statusesForPeople, taskStatuses } from '../../tasks/rules/task.ts';
import type { Topic } from './help.ts';
import { wrapped } from './wrap.ts';

export function topicText(topic: Topic, columns: number): string {
  const lines = pages[topic]().flatMap((part) =>
    typeof part === 'string'
      ? wrapped(part, columns)
      : 'yaml' in part
        ? part.yaml.map((line) => `    ${line}`)
        : indented(part, columns),
  );
  return `${lines.join('\n')}\n`;
}

/** A paragraph, a term with its text below it, or lines of copse.yml. */
type Part = string | readonly [term: string, text: string] | { readonly yaml: readonly string[] };

function indented([term, text]: readonly [string, string], columns: number): readonly string[] {
  return [`  ${term}`, ...wrapped(text, columns - 6).map((line) => `      ${line}`)];
}

const pages: Readonly<Record<Topic, () => readonly Part[]>> = {
  states: () => [
    'The states of a task. `copse why <id>` says why a task is in its state, and what to do.',
    '',
    'The usual order: pending, ready, in_progress, in_review or landing, done.',
    `A person has to act on: ${statusesForPeople.join(', ')}.`,
    '',
    ...taskStatuses.map(
      (status) =>
        [
          status,
          `${meanings[status]} Next: ${statusCommands(status)
            .map(
              (command) =>
                `\`copse ${command} <id>${answering(status, command)}\`${condition(status, command)}`,
            )
            .join(', ')}.`,
        ] as const,
    ),
  ],

  configuration: () => [
    'Settings are in copse.yml at the root of the repository. The file and all its keys are optional.',
    '',
    ['copse init', 'writes a copse.yml for the agent programs that are installed.'],
    ['copse config', 'shows the effective settings, with the defaults.'],
    ['copse config check', 'names mistakes by line, with suggestions.'],
    ['copse config accept', 'shows what changed, asks, and accepts it.'],
    ['copse config schema', 'prints a JSON Schema for editors.'],
    '',
    'Copse uses the accepted version of copse.yml, of the set-up files and of the addresses of submodules, so that an agent cannot change what Copse runs. The first command in a repository accepts the files that it finds. Copse ignores a later change, even a landed one, until you run `copse config accept`.',
    '',
    'An example:',
    '',
    {
      yaml: ['agents:', '  claude: { runtime: claude, max: 2 }', 'landing:', '  checks: { unit: npm test }'],
    },
    '',
    'COPSE_BOARD replaces the address of the board. Options of a command override the settings.',
  ],

  agents: () => [
    `An agent is a program that works on one task at a time, in a worktree of its own. \`copse orchestrate\` starts agents on ready tasks, at most ${defaultPolicy.orchestration.maxAgents} at once (policy.max_agents), and lands their finished work.`,
    '',
    `Runtimes: ${runtimes.join(', ')}. Without agents in copse.yml, Copse uses the first installed one of ${vendorRuntimes.join(', ')}. \`command\` runs any program; its prompt is in $COPSE_PROMPT_FILE.`,
    '',
    ['copse agents detect', 'which agent programs are installed, and whether they start.'],
    ['copse orchestrate --dry-run', 'which tasks would start, and why the others wait.'],
    ['copse logs <id> --follow', 'the output of an agent.'],
    ['copse answer <id>', 'answers an agent that asks for permission.'],
    [
      'copse restart <id> --answer "…"',
      'answers an agent that stopped with a question, and starts it again.',
    ],
    '',
    `After a crash, Copse rescues the work and the orchestrator starts the agent again. After ${defaultPolicy.retry.maxRetries} crashes (policy.max_retries) the task fails. Ctrl+C stops the orchestrator and leaves the agents running.`,
    '',
    'Without `sandbox`, an agent has your rights: it can read your keys and push. `copse doctor` says which sandboxes this machine has.',
    '',
    'An example for copse.yml:',
    '',
    {
      yaml: [
        'agents:',
        '  claude: { runtime: claude, max: 2 }',
        '  mine: { runtime: command, command: ./my-agent.sh, capabilities: [gpu] }',
      ],
    },
  ],

  landing: () => [
    'Finished branches land through a queue for each target branch. An orchestrator leads the queue; `copse merge <id>` lands a task without one.',
    '',
    `landing.policy is one of ${landingPolicies.join(', ')} (default: ${defaultPolicy.landing.policy}):`,
    '',
    ['auto', 'finished work enters the queue at once.'],
    ['review', 'a person approves it first: copse review <id>.'],
    ['pr', 'Copse opens a pull request and follows it.'],
    ['none', 'finished work stays on its branch.'],
    '',
    `landing.method is one of ${mergeMethods.join(', ')} (default: ${defaultPolicy.landing.method}).`,
    '',
    `If landing.checks is set, Copse lands a branch only after the merged result passes all checks. Without checks, Copse lands every branch that merges without conflicts. Copse hands a branch that conflicts or fails its checks back to its agent, at most ${defaultPolicy.handback.checks} times (policy.handbacks); then the task needs attention.`,
    '',
    ['copse queue', 'what waits to land, and why.'],
    ['copse radar', 'which branches of unfinished tasks conflict.'],
    ['copse queue pause', 'stops landing until copse queue resume.'],
    ['copse undo <id>', 'adds a task that reverts the landing of that task.'],
    '',
    'An example for copse.yml:',
    '',
    { yaml: ['landing:', '  policy: review', '  checks: { types: npx tsc, unit: npm test }'] },
  ],

  schedules: () => [
    'An agent can start without a person: at set times (`agents.<name>.schedules`), or on request (`triggers`). Each start is a job: a task with the prompt of the schedule, or with the next open item of its work source. An orchestrator (`copse orchestrate`) starts the jobs. If several machines run an orchestrator, only one of them starts each job.',
    '',
    'A time that passed while no orchestrator ran is skipped, unless `missed` is once or all. If the last run has not ended at the next time, that time is skipped, unless `overlap` is queue. Cron expressions are in UTC, unless `time_zone` says otherwise.',
    '',
    ['copse schedule list', 'the times in words, and the next three runs.'],
    ['copse schedule run <name>', 'starts a run now.'],
    ['copse schedule pause <name>', 'starts nothing until copse schedule resume.'],
    ['copse trigger <name> --prompt "…"', 'starts a trigger or an agent now.'],
    ['copse jobs', 'the results of the runs.'],
    '',
    'An example for copse.yml:',
    '',
    {
      yaml: [
        'agents:',
        '  claude:',
        '    schedules:',
        "      nightly: { type: cron, cron: '0 6 * * 1-5', prompt: Run the tests. }",
      ],
    },
  ],

  machines: () => [
    'Several machines can share one board in PostgreSQL: `board` in copse.yml, or COPSE_BOARD. Each machine is a node: it has its own clone, and runs its own `copse up` (short for `copse orchestrate`). Only one node at a time can claim a task. One node leads the queue of a target; another one takes over when the leader is gone.',
    '',
    'A node tells the board its Copse version, labels, slots, agents, processors and memory. A task with `--requires gpu` goes to a node with that label, or to an agent with that capability; `copse why` says what each node lacks.',
    '',
    'Copse pushes the work of running tasks to the remote (refs/copse/work), so that another machine can go on with it; `share_work: false` stops that. Ignored files, files with usual names of secrets, worktrees, logs, rescues and the trash stay on the machine that made them.',
    '',
    ['copse up --node-name build-1 --labels gpu --slots 8', 'joins the board and runs agents.'],
    ['copse node list', 'which nodes there are, and when each was last heard from.'],
    [
      'copse node drain build-1',
      `before a restart: no new work; agents that still run after ${spanText(defaultPolicy.nodes.drainMs)} are stopped, and their tasks are ready for other nodes. SIGTERM does the same, and ends the orchestrator.`,
    ],
    ['copse move <id> --to build-2', 'continues a task on another node.'],
    [
      'copse board migrate',
      'updates the board after you update Copse. Every command does that too, but not while a node runs the older version.',
    ],
    ['copse export board.jsonl', 'writes the board to a file.'],
    ['copse import board.jsonl', 'reads the file into an empty board, in SQLite or PostgreSQL.'],
    ['copse doctor', 'checks whether this machine reaches the board.'],
  ],
};

/** The agent of a stuck task has asked a question. */
function answering(status: TaskStatus, command: string): string {
  return status === 'stuck' && command === 'restart' ? ' --answer "…"' : '';
}

/** When the command is refused otherwise. */
function condition(status: TaskStatus, command: string): string {
  if (status === 'done' && command === 'undo') return ' (if it landed)';
  return status === 'needs_attention' && command === 'merge' ? ' (if it has commits)' : '';
}

const meanings: Readonly<Record<TaskStatus, string>> = {
  pending: 'It waits for other tasks.',
  ready: 'A running orchestrator starts an agent on it as soon as one is free.',
  in_progress: 'An agent or a person works on it.',
  paused: 'A person stopped the work on it.',
  stuck: 'It needs you: its agent asked a question, or could not start.',
  in_review: 'The work is finished, and waits for your review.',
  landing: 'The work is finished, and queued to land.',
  needs_attention: 'It cannot land, or its agent stopped before the work was complete.',
  done: 'It landed, or it had nothing to land, or landing.policy is none.',
  failed: 'Its agent crashed too often (policy.max_retries).',
  cancelled: 'A person stopped it for good.',
};
