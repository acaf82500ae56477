/** The commands of every day. */

import { defaultPolicy } from '../../../kernel/policy.ts';
import { taskStatuses } from '../../../tasks/rules/task.ts';
import { run as list } from '../../commands/tasks/list.ts';
import { run as show } from '../../commands/tasks/show.ts';
import { overviewOperations } from '../../../operations/overview/group.ts';
import { taskOperations } from '../../../operations/tasks/group.ts';
import type { CopseCommand } from '../command.ts';
import { type CommandEntry, type On, byComma, taskHere, withDefinition } from '../parts.ts';

export const dailyCommands: readonly CommandEntry[] = [
  { names: ['status'], add: addStatus },
  { names: ['watch'], add: addWatch },
  { names: ['inbox'], add: addInbox },
  { names: ['list', 'ls'], add: addList },
  { names: ['show'], add: addShow },
  { names: ['why'], add: addWhy },
  { names: ['add'], add: addAdd },
  { names: ['orchestrate', 'up'], add: addOrchestrate },
];

function addWatch(program: CopseCommand, on: On): void {
  program
    .command('watch')
    .description('Show the status live; press a key to answer, approve, restart or cancel.')
    .details(
      'The last line lists the keys for the selected task; press ? for all keys. Press q to quit; tasks and agents go on. It starts no agents: run copse orchestrate in another terminal. On a terminal without cursor control, it prints the status once.',
    )
    .examples([
      ['copse watch', 'until you press q'],
      ['TERM=dumb copse watch', 'print the status once'],
    ])
    .action(on(() => import('../../commands/agents/watch.ts')));
}

function addAdd(program: CopseCommand, on: On): void {
  const { priority, kind } = defaultPolicy.task;
  withDefinition(program.command('add').argument('[title...]', 'what to do, in a few words'))
    .description(taskOperations.add.description)
    .option('--body <text>', 'the whole assignment')
    .option('--body-file <file>', 'the whole assignment, from a file (- for standard input)')
    .option('--depends <ids>', 'tasks that must be done first (repeat or separate by commas)', byComma)
    .option(
      '--from <artifact-or-task>',
      'for --kind import: the artifact, or the task whose artifacts, to commit',
    )
    .option('--item <source#id>', 'a work item of a source, for example github#12, instead of a title')
    .option('--json', 'print the task as JSON')
    .details(`Without options, a task is p${priority}, of kind ${kind}, and for any agent.`)
    .examples([
      ['copse add "Add a login page" --priority p5 --area "src/auth/**"', ''],
      ['copse add "Document the API" --depends cp-a1b2 --accept "npm run docs"', ''],
    ])
    .action(on(() => import('../../commands/tasks/add.ts')));
}

function addStatus(program: CopseCommand, on: On): void {
  program
    .command('status')
    .description(overviewOperations.status.description)
    .option('--json', 'print { "counts", "needsYou": [...], "working": [...], … }')
    .details('`copse` alone does the same. In a worktree, it begins with the task of that worktree.')
    .examples([
      ['copse status', 'what to do next'],
      ['copse status --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/tasks/status.ts')));
}

function addList(program: CopseCommand, on: On): void {
  program
    .command('list')
    .alias('ls')
    .description(overviewOperations.list.description)
    .option(
      '--status <statuses>',
      `only tasks with these statuses, separated by commas: ${taskStatuses.join(', ')}`,
      byComma,
    )
    .option('--plan <id>', 'only the tasks of this plan')
    .option('--agent <name>', 'only the tasks for this agent')
    .option('--all', 'all finished tasks, not only the latest')
    .option('--sort <order>', 'age, priority, status, title or updated (default: status)')
    .option('--limit <n>', 'at most n tasks')
    .option('--cursor <cursor>', 'the next page: the "cursor" that --json printed for the last one')
    .option('--watch', 'keep showing the list, until q or Ctrl+C')
    .option('--json', 'print { "tasks": [...], "hasMore", "cursor" }')
    .details(
      'On a terminal, long lines are cut. To read a whole reason: copse why <id>\nThe tasks that wait for you: copse inbox',
    )
    .examples([
      ['copse list --status ready,pending', 'which tasks have not started'],
      ['copse list --sort age --limit 10', 'the ten tasks that have waited longest'],
    ])
    .action(on(() => Promise.resolve({ run: list })));
}

function addInbox(program: CopseCommand, on: On): void {
  program
    .command('inbox')
    .description('Answer what needs you, one task after another.')
    .option('--json', 'print { "needsYou": [...] }')
    .details(
      'Press one key to answer, or t to type a text. Copse waits 5 s before it applies an answer: u takes the answer back, any other key applies it now.\nWithout a terminal, copse inbox prints the tasks and the commands.',
    )
    .examples([
      ['copse inbox', 'at a terminal'],
      ['copse inbox --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/tasks/inbox.ts')));
}

function addShow(program: CopseCommand, on: On): void {
  program
    .command('show')
    .argument('[id]', taskHere)
    .description(overviewOperations.show.description)
    .option('--json', 'print the task as JSON')
    .examples([
      ['copse show a1b2', 'the beginning of an id is enough'],
      ['copse show cp-a1b2 --json', 'for scripts'],
    ])
    .action(on(() => Promise.resolve({ run: show })));
}

function addWhy(program: CopseCommand, on: On): void {
  program
    .command('why')
    .argument('[id]', taskHere)
    .description(overviewOperations.why.description)
    .option('--json', 'print { "task", "because", "next" }')
    .examples([
      ['copse why a1b2', ''],
      ['copse why a1b2 --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/tasks/why.ts')));
}

function addOrchestrate(program: CopseCommand, on: On): void {
  const { orchestration, retry } = defaultPolicy;
  program
    .command('orchestrate')
    .alias('up')
    .description('Run agents on ready tasks, and land their finished work.')
    .option(
      '--max-agents <n>',
      `run at most this many agents at once on this machine (default: policy.max_agents, ${orchestration.maxAgents})`,
    )
    .option('--slots <n>', 'the same as --max-agents')
    .option(
      '--node-name <name>',
      'the name of this node (default: the name that it had last, or the host name)',
    )
    .option(
      '--labels <labels>',
      'labels of this node, for tasks that require them; they replace its old labels (repeat or separate by commas)',
      byComma,
    )
    .option(
      '--max-retries <n>',
      `a task fails after this many crashes; 1: no retry (default: policy.max_retries, ${retry.maxRetries})`,
    )
    .option(
      '--poll-interval <time>',
      'read the board at least this often (default: policy.poll_interval, 5s)',
    )
    .option(
      '--until-idle',
      'stop when no task can start or land without a person; exits with 5 if a task needs a person, 4 if ready tasks cannot start here',
    )
    .option('--once', 'start ready tasks and land finished ones once, then stop')
    .option('--dashboard', 'serve the board over HTTP too, as copse serve does, until the orchestrator ends')
    .option('--dry-run', 'only show which tasks would start, and why the others wait')
    .option(
      '--command <line>',
      'a shell command to use as the agent, instead of the agents in copse.yml; its prompt is in $COPSE_PROMPT_FILE',
    )
    .option('--json', 'with --dry-run: print { "plan": [...] }')
    .details(
      'Ctrl+C stops the orchestrator and leaves the agents running; the next orchestrator takes them over. SIGTERM drains: no new work starts, and running agents may finish within policy.drain_within. Copse then stops them, keeps their work, and makes their tasks ready for the next orchestrator, on this or another machine. A second SIGTERM does this at once. If another orchestrator of this clone runs here, SIGTERM is like Ctrl+C.',
    )
    .examples([
      ['copse orchestrate', 'until Ctrl+C'],
      ['copse up --until-idle --max-agents 8', 'in a script'],
      ['copse up --command "./my-agent.sh"', 'any program can be an agent'],
      ['copse up --node-name build-1 --labels gpu --slots 8', 'one of several machines'],
    ])
    .action(on(() => import('../../commands/agents/orchestrate.ts')));
}
