/** The commands about agents, reviews and landing. */

import type { Command } from 'commander';

import { defaultPolicy } from '../../kernel/policy.ts';
import { type Group, type On, examples } from './parts.ts';

const aTask = 'a task id, or the unique beginning of one';

function addOrchestrateCommand(program: Command, on: On): void {
  const { orchestration, retry } = defaultPolicy;
  program.commandsGroup('Run agents:');
  program
    .command('orchestrate')
    .alias('up')
    .description('Run agents on ready tasks, and land their finished work.')
    .option(
      '--max-agents <n>',
      `agents at once on this machine (default: policy.max_agents, ${orchestration.maxAgents})`,
    )
    .option(
      '--max-retries <n>',
      `crashes after which a task fails (default: policy.max_retries, ${retry.maxRetries})`,
    )
    .option(
      '--poll-interval <time>',
      'longest time between two looks at the board (default: policy.poll_interval, 5s)',
    )
    .option(
      '--until-idle',
      'stop when no task can start or land without a person; fails if ready tasks are left that cannot start here',
    )
    .option('--once', 'start and land what is possible now, then stop')
    .option('--dry-run', 'only show which tasks would start, and why the others wait')
    .option(
      '--command <line>',
      'a shell command to use as the agent, instead of the agents in copse.yml; its prompt is in $COPSE_PROMPT_FILE',
    )
    .option('--json', 'with --dry-run: print { "plan": [...] }')
    .addHelpText(
      'after',
      '\nCtrl+C stops the orchestrator and leaves the agents running; the next orchestrator takes them over.',
    )
    .addHelpText(
      'after',
      examples([
        ['copse orchestrate', 'until Ctrl+C'],
        ['copse up --until-idle --max-agents 8', 'in a script'],
        ['copse up --command "./my-agent.sh"', 'any program can be an agent'],
      ]),
    )
    .action(on(() => import('../commands/agents/orchestrate.ts')));
}

function addAgentsCommand(program: Command, on: On): void {
  program.commandsGroup('Run agents:');
  program
    .command('agents')
    .argument('[detect]', 'show which agent programs are installed, and whether they start')
    .description('Show running agents, and which agents are configured.')
    .option('--json', 'print { "running": [...], "agents": [...] }, or { "runtimes": [...] }')
    .addHelpText('after', examples([['copse agents detect', 'which agent programs are installed']]))
    .action(on(() => import('../commands/agents/agents.ts')));
}

function addRunCommands(program: Command, on: On): void {
  program.commandsGroup('Set up:');
  program
    .command('init')
    .description('Write a copse.yml for the agent programs that are installed.')
    .option('--dry-run', 'only print it')
    .option('--yes', 'accept the set-up files that the repository has, without asking')
    .addHelpText('after', examples([['copse init --dry-run', '']]))
    .action(on(() => import('../commands/setup/init.ts')));
  program.commandsGroup('Run agents:');
  program
    .command('answer')
    .argument('<id>', aTask)
    .argument('[verdict]', 'allow or deny; without it, shows the question')
    .description('Answer an agent that asks for permission.')
    .option('--message <text>', 'a message to the agent')
    .option('--question <id>', 'answer only if this is still the open question')
    .option('--json', 'print { "question", "isAllowed", "message" }')
    .addHelpText(
      'after',
      examples([
        ['copse answer a1b2', 'show the question'],
        ['copse answer a1b2 allow', ''],
        ['copse answer a1b2 deny --message "Use npm ci"', ''],
      ]),
    )
    .action(on(() => import('../commands/agents/answer.ts')));
  program
    .command('cost')
    .description('Show the tokens and dollars that agents used.')
    .option('--by <group>', 'task, agent or day (default: task)')
    .option('--since <time>', '7d, 12h, a day (2026-11-30) or a time')
    .option('--plan <id>', 'only the tasks of this plan')
    .option('--json', 'print { "rows": [...], "total" }')
    .addHelpText(
      'after',
      '\nDollars are those that the agent programs report; others are unknown. Days are local.',
    )
    .addHelpText('after', examples([['copse cost --by day --since 7d', 'the last week']]))
    .action(on(() => import('../commands/agents/cost.ts')));
  program
    .command('attach')
    .argument('<id>', aTask)
    .description('Attach to the terminal of an agent that runs in tmux.')
    .addHelpText(
      'after',
      '\nCtrl+B D detaches; the agent keeps running. Agents run in tmux with `terminal: tmux` in copse.yml.',
    )
    .addHelpText('after', examples([['copse attach a1b2', '']]))
    .action(on(() => import('../commands/agents/attach.ts')));
  program
    .command('logs')
    .argument('<id>', aTask)
    .description('Show the output of a task’s agent.')
    .option('-f, --follow', 'keep printing new output')
    .option('-n, --lines <n>', 'number of lines from the end (default: 200)')
    .option('--all', 'the whole output of all attempts')
    .option('--runner', 'the log of its runner instead: handbacks, crashes, problems')
    .option('--json', 'print { "task", "logs": [{ "attempt", "file", "isWhole", "lines" }] }')
    .addHelpText(
      'after',
      examples([
        ['copse logs a1b2 --follow', 'until Ctrl+C'],
        ['copse logs a1b2 -n 20', 'the last 20 lines'],
      ]),
    )
    .action(on(() => import('../commands/agents/logs.ts')));
  program.commandsGroup('Called by agents:');
  program
    .command('mcp')
    .description('Serve the report commands to an agent as MCP tools.')
    .addHelpText(
      'after',
      '\nAgent programs start it in a task’s worktree, and speak MCP with it on standard input and output.',
    )
    .addHelpText('after', examples([['claude mcp add copse -- copse mcp', 'register it with Claude Code']]))
    .action(on(() => import('../commands/agents/mcp.ts')));
  program.commandsGroup('Review and land:');
  program
    .command('merge')
    .argument('<ids...>', 'tasks in review, or tasks that need attention')
    .description('Land finished tasks now, and wait for the result.')
    .option('--now', 'skip the checks, which is recorded; conflicts are still refused')
    .option('--json', 'print { "landings": [...] }')
    .addHelpText(
      'after',
      '\nCtrl+C stops waiting; the tasks stay in the queue. To take them out: copse queue cancel',
    )
    .addHelpText(
      'after',
      examples([
        ['copse list --status in_review', 'which tasks wait for review'],
        ['copse merge a1b2 c3d4', ''],
      ]),
    )
    .action(on(() => import('../commands/queue/merge.ts')));
  program.commandsGroup('Called by agents:');
  program
    .command('notify')
    .argument('<kind>', 'permission, idle, or none when it no longer waits')
    .argument('[id]', `${aTask} (default: the task of the session or worktree)`)
    .description('Report that an agent waits for a person.')
    .option('--message <text>', 'what it waits for')
    .option('--json', 'print { "task", "attention", "isNew" }')
    .addHelpText(
      'after',
      '\nFor hooks of agent programs. `notifications` in copse.yml says how people are notified.',
    )
    .addHelpText('after', examples([['copse notify idle --message "Which port?"', 'in a worktree']]))
    .action(on(() => import('../commands/agents/notify.ts')));
  program.commandsGroup('Review and land:');
  program
    .command('radar')
    .argument('[id]', `${aTask} (default: all pairs)`)
    .description('Show which live branches conflict or change the same files.')
    .option('--json', 'print { "at", "branches": [...], "pairs": [...], "omitted" }')
    .addHelpText(
      'after',
      '\nconflict: git cannot merge the two. overlap: both change the same files, and git can merge them.\nUncommitted changes do not count.',
    )
    .addHelpText('after', examples([['copse radar a1b2', 'collisions of one task']]))
    .action(on(() => import('../commands/queue/radar.ts')));
  program.commandsGroup('Run agents:');
  program
    .command('restart')
    .argument('<id>', aTask)
    .description('Start a stuck or failed task again, with a new conversation.')
    .option('--answer <text>', 'the answer for the agent of a stuck task')
    .option('--command <line>', 'a shell command to use as the agent')
    .option('--json', 'print the task as JSON')
    .addHelpText(
      'after',
      '\nThe worktree stays the same. A stuck task starts at once; a failed one waits for an orchestrator.',
    )
    .addHelpText('after', examples([['copse restart a1b2 --answer "Keep both tables"', '']]))
    .action(on(() => import('../commands/tasks/restart.ts')));
  program
    .command('resume')
    .argument('<id>', aTask)
    .description(
      'Continue a paused, done or in-review task, or one that needs attention, in its conversation.',
    )
    .option('--message <text>', 'a message to the agent')
    .option('--command <line>', 'a shell command to use as the agent')
    .option('--json', 'print the task as JSON')
    .addHelpText('after', examples([['copse resume a1b2 --message "Please add a test"', '']]))
    .action(on(() => import('../commands/tasks/resume.ts')));
  program.commandsGroup('Review and land:');
  program
    .command('review')
    .argument('[id]', `${aTask} (default: list all in review)`)
    .description('Show finished work; approve it or send it back.')
    .option('--approve', 'land exactly the current commit')
    .option('--head <commit>', 'with --approve: only if the branch is still at this commit')
    .option('--send-back [comment]', 'send it back to its agent with a comment')
    .option('-m, --message <comment>', 'the comment for --send-back')
    .option('--stat', 'only the files and numbers of lines')
    .option('--command <line>', 'with --send-back: a shell command to use as the agent')
    .option('--json', 'print { "reviews": [...] }, the review, or the decision')
    .addHelpText('after', '\nA branch that moves after the approval does not land; it goes back to review.')
    .addHelpText(
      'after',
      examples([
        ['copse review', 'which tasks wait for review'],
        ['copse review a1b2', 'show the changes; on a terminal, asks whether to approve'],
        ['copse review a1b2 --approve', ''],
        ['copse review a1b2 --send-back "Please add a test"', ''],
      ]),
    )
    .action(on(() => import('../commands/queue/review.ts')));
  program.commandsGroup('Run agents:');
  program
    .command('pause')
    .argument('<id>', aTask)
    .description('Stop the agent of a task; copse resume continues.')
    .option('--json', 'print the task as JSON')
    .addHelpText('after', examples([['copse pause a1b2', '']]))
    .action(on(() => import('../commands/tasks/pause.ts')));
  program
    .command('cancel')
    .argument('<id>', aTask)
    .description('Stop a task for good; its worktree stays.')
    .option('--reason <text>', 'why')
    .option('--json', 'print the task as JSON')
    .addHelpText('after', examples([['copse cancel a1b2 --reason "Not needed"', '']]))
    .action(on(() => import('../commands/tasks/cancel.ts')));
}

function addWhyCommand(program: Command, on: On): void {
  program.commandsGroup('Tasks:');
  program
    .command('why')
    .argument('<id>', aTask)
    .description('Explain the status of a task, and what to do about it.')
    .option('--json', 'print { "task", "because", "next" }')
    .addHelpText('after', examples([['copse why a1b2', '']]))
    .action(on(() => import('../commands/tasks/why.ts')));
}

function addDemoCommand(program: Command, on: On): void {
  program.commandsGroup('Set up:');
  program
    .command('demo')
    .description('Watch scripted agents finish seven tasks, in under a minute.')
    .option('--dir <folder>', 'an empty or new folder (default: a temporary folder)')
    .option('--keep', 'use a new folder copse-demo in the current folder')
    .option('--speed <factor>', 'speed of the agents: 2 is twice as fast')
    .addHelpText(
      'after',
      '\nIt shows a crash, a conflict and a question. It needs no API key and no network, and changes nothing outside its folder,\nwhich stays; the last line says how to delete it. Ctrl+C ends the demo and its agents.',
    )
    .addHelpText('after', examples([['copse demo --dir ~/thermo --speed 2', '']]))
    .action(on(() => import('../commands/setup/demo.ts')));
}

export const runGroups: readonly Group[] = [
  { names: ['orchestrate', 'up'], add: addOrchestrateCommand },
  { names: ['agents'], add: addAgentsCommand },
  {
    names: [
      'init',
      'answer',
      'cost',
      'attach',
      'logs',
      'mcp',
      'merge',
      'notify',
      'radar',
      'restart',
      'resume',
      'review',
      'pause',
      'cancel',
    ],
    add: addRunCommands,
  },
  { names: ['why'], add: addWhyCommand },
  { names: ['demo'], add: addDemoCommand },
];
