/** The commands that run agents and land their work. */

import type { Command } from 'commander';

import { defaultPolicy } from '../kernel/policy.ts';
import { type Group, type On, examples } from './program-parts.ts';

const aTask = 'a task, by any unique beginning of its id';

function addOrchestrateCommand(program: Command, on: On): void {
  const { orchestration, retry } = defaultPolicy;
  program
    .command('orchestrate')
    .alias('up')
    .description('Hand ready tasks to agents, look after them, and land what they finish.')
    .option(
      '--max-agents <n>',
      `how many agents at once on this machine (default: policy.max_agents, ${orchestration.maxAgents})`,
    )
    .option(
      '--max-retries <n>',
      `after how many crashes a task has failed (default: policy.max_retries, ${retry.maxRetries})`,
    )
    .option(
      '--poll-interval <time>',
      'how long to wait at most before looking again (default: policy.poll_interval, 5s)',
    )
    .option('--until-idle', 'stop when nothing is left to do without a person')
    .option('--once', 'look once, start and land what can be, and stop')
    .option('--dry-run', 'only show what would start, and why the rest waits')
    .option(
      '--command <line>',
      'a line for the shell that works as the agent, instead of those in copse.yml; its prompt is in $COPSE_PROMPT_FILE',
    )
    .option('--json', 'with --dry-run: print { "plan": [...] }')
    .addHelpText(
      'after',
      '\nCtrl+C stops the loop and leaves the agents running; the next one picks them up.',
    )
    .addHelpText(
      'after',
      examples([
        ['copse orchestrate', 'until Ctrl+C'],
        ['copse up --until-idle --max-agents 8', 'in a script'],
        ['copse up --command "./my-agent.sh"', 'any program is an agent'],
      ]),
    )
    .action(on(() => import('./commands/agents/orchestrate.ts')));
}

function addAgentsCommand(program: Command, on: On): void {
  program
    .command('agents')
    .argument('[detect]', 'which agent programs are installed, in which version, and whether they start')
    .description('Show who works on what, and which agents there are.')
    .option('--json', 'print { "running": [...], "agents": [...] }, or { "runtimes": [...] }')
    .action(on(() => import('./commands/agents/agents.ts')));
}

function addRunCommands(program: Command, on: On): void {
  program
    .command('init')
    .description('Write a copse.yml for the agent programs that are installed.')
    .option('--dry-run', 'only print it')
    .action(on(() => import('./commands/setup/init.ts')));
  program
    .command('answer')
    .argument('<id>', aTask)
    .argument('[verdict]', 'allow or deny; without it, what is asked is shown')
    .description('Answer an agent that asks whether it may do something.')
    .option('--message <text>', 'what the agent is told with it')
    .option('--question <id>', 'only if this is still what it asks')
    .option('--json', 'print { "question", "isAllowed", "message" }')
    .addHelpText(
      'after',
      examples([
        ['copse answer a1b2', 'what it asks'],
        ['copse answer a1b2 allow', ''],
        ['copse answer a1b2 deny --message "Use npm ci"', ''],
      ]),
    )
    .action(on(() => import('./commands/agents/answer.ts')));
  program
    .command('cost')
    .description('Add up the tokens and dollars that agents used.')
    .option('--by <group>', 'task, agent or day (default: task)')
    .option('--since <time>', 'how long back, such as 7d or 12h; a day or a time, such as 2026-11-30')
    .option('--plan <id>', 'only the tasks of this plan')
    .option('--json', 'print { "rows": [...], "total" }')
    .addHelpText(
      'after',
      '\nDollars are what the agents’ programs say; of those that say none they are unknown. Days are local.',
    )
    .addHelpText('after', examples([['copse cost --by day --since 7d', 'the last week']]))
    .action(on(() => import('./commands/agents/cost.ts')));
  program
    .command('attach')
    .argument('<id>', aTask)
    .description('Join the terminal of an agent that runs in tmux.')
    .addHelpText(
      'after',
      '\nCtrl+B D leaves it; the agent goes on. Agents run there with `terminal: tmux` in copse.yml.',
    )
    .action(on(() => import('./commands/agents/attach.ts')));
  program
    .command('logs')
    .argument('<id>', aTask)
    .description('Show what the agent of a task printed, in its latest attempt.')
    .option('-f, --follow', 'go on as it prints more')
    .option('-n, --lines <n>', 'how many lines from the end (default: 200)')
    .option('--all', 'all attempts, whole')
    .option('--runner', 'what its runner noted, instead: handbacks, crashes, problems')
    .addHelpText('after', examples([['copse logs a1b2 --follow', 'over all its attempts, until Ctrl+C']]))
    .action(on(() => import('./commands/agents/logs.ts')));
  program
    .command('mcp')
    .description('Serve an agent in a worktree the tools to report about its task (MCP, on standard input).')
    .addHelpText(
      'after',
      '\nAgent programs start it: command copse, argument mcp, with the COPSE_… variables.',
    )
    .action(on(() => import('./commands/agents/mcp.ts')));
  program
    .command('merge')
    .argument('<ids...>', 'tasks that are in review or need attention')
    .description('Let finished tasks land, and see them land.')
    .option('--now', 'without checks: you answer for it, which is recorded; conflicts are still refused')
    .option('--json', 'print { "landings": [...] }')
    .addHelpText(
      'after',
      '\nCtrl+C stops waiting; they stay in the queue. copse queue cancel takes them out.',
    )
    .addHelpText(
      'after',
      examples([
        ['copse list --status in_review', 'what waits for you'],
        ['copse merge a1b2 c3d4', ''],
      ]),
    )
    .action(on(() => import('./commands/queue/merge.ts')));
  program
    .command('notify')
    .argument('<kind>', 'permission, idle, or none when it goes on')
    .argument('[id]', `${aTask}; without it, that of the session or worktree`)
    .description('Say that the agent of a task waits for a person, and let people be notified.')
    .option('--message <text>', 'what for')
    .option('--json', 'print { "task", "attention", "isNew" }')
    .addHelpText(
      'after',
      '\nFor hooks of agent programs. How people hear of it is `notifications` in copse.yml.',
    )
    .addHelpText('after', examples([['copse notify idle --message "Which port?"', 'in a worktree']]))
    .action(on(() => import('./commands/agents/notify.ts')));
  program
    .command('radar')
    .argument('[id]', `${aTask}; without it, all pairs`)
    .description('Show which branches that are being worked on get in each other’s way.')
    .option('--json', 'print { "at", "branches": [...], "pairs": [...], "omitted" }')
    .addHelpText(
      'after',
      '\nconflict: git cannot merge the two. overlap: they change the same files, and git can. Only commits count.',
    )
    .addHelpText('after', examples([['copse radar a1b2', 'who is in the way of one task']]))
    .action(on(() => import('./commands/queue/radar.ts')));
  program
    .command('restart')
    .argument('<id>', aTask)
    .description(
      'Answer a task that is stuck, or give one that failed another try: a fresh conversation in the same worktree.',
    )
    .option('--answer <text>', 'what an agent that asked is told')
    .option('--command <line>', 'a line for the shell that works as the agent')
    .option('--json', 'print the task as JSON')
    .addHelpText(
      'after',
      '\nA stuck task goes on at once. A failed one waits for the next look of an orchestrator.',
    )
    .addHelpText('after', examples([['copse restart a1b2 --answer "Keep both tables"', '']]))
    .action(on(() => import('./commands/tasks/restart.ts')));
  program
    .command('resume')
    .argument('<id>', aTask)
    .description(
      'Let a task go on in the conversation it had: after a pause, a review, or even when it is done.',
    )
    .option('--message <text>', 'what the agent is told')
    .option('--command <line>', 'a line for the shell that works as the agent')
    .option('--json', 'print the task as JSON')
    .addHelpText('after', examples([['copse resume a1b2 --message "Please add a test"', '']]))
    .action(on(() => import('./commands/tasks/resume.ts')));
  program
    .command('review')
    .argument('[id]', `${aTask}; without it, all that wait`)
    .description('Look at finished work, and let it land or send it back.')
    .option('--approve', 'let it land, exactly as it is now')
    .option('--head <commit>', 'with --approve: only if it is still at this commit')
    .option('--send-back [comment]', 'give it back to its agent with what is to change')
    .option('-m, --message <comment>', 'the same')
    .option('--stat', 'only which files, and how many lines')
    .option('--command <line>', 'with --send-back: a line for the shell that works as the agent')
    .option('--json', 'print { "reviews": [...] }, or the review, or what was decided')
    .addHelpText('after', '\nA branch that moves after it was approved does not land: it is in review again.')
    .addHelpText(
      'after',
      examples([
        ['copse review', 'what waits for you'],
        ['copse review a1b2', 'what would land; on a terminal you are asked what becomes of it'],
        ['copse review a1b2 --approve', ''],
        ['copse review a1b2 --send-back "Please add a test"', ''],
      ]),
    )
    .action(on(() => import('./commands/queue/review.ts')));
  program
    .command('pause')
    .argument('<id>', aTask)
    .description('Stop the agent of a task. The worktree stays; copse resume goes on.')
    .option('--json', 'print the task as JSON')
    .action(on(() => import('./commands/tasks/pause.ts')));
  program
    .command('cancel')
    .argument('<id>', aTask)
    .description('Stop a task for good. The worktree stays until it is cleaned up.')
    .option('--reason <text>', 'why')
    .option('--json', 'print the task as JSON')
    .action(on(() => import('./commands/tasks/cancel.ts')));
}

function addWhyCommand(program: Command, on: On): void {
  program
    .command('why')
    .argument('<id>', aTask)
    .description('Say why a task is where it is, and what would move it.')
    .option('--json', 'print { "task", "because", "next" }')
    .action(on(() => import('./commands/tasks/why.ts')));
}

function addDemoCommand(program: Command, on: On): void {
  program
    .command('demo')
    .description(
      'Watch seven tasks get done in a scratch repository: a crash, a conflict, a question. Under a minute.',
    )
    .option(
      '--dir <folder>',
      'where, instead of the system’s folder for temporary files; must be empty or new',
    )
    .option('--keep', 'in a new folder copse-demo right here, where nothing cleans up')
    .option('--speed <factor>', 'how fast the agents think: 2 is twice as fast')
    .addHelpText(
      'after',
      '\nNo key, no network; nothing outside the folder is touched. The folder stays, and the last line says how to delete it.\nCtrl+C ends the demo and its agents.',
    )
    .addHelpText('after', examples([['copse demo --dir ~/thermo --speed 2', '']]))
    .action(on(() => import('./commands/setup/demo.ts')));
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
