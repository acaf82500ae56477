/** Commands about running agents. */

import { agentOperations } from '../../../operations/agents/group.ts';
import { taskOperations } from '../../../operations/tasks/group.ts';
import type { CopseCommand } from '../command.ts';
import { type CommandEntry, type On, aTask } from '../parts.ts';

export const agentsCommands: readonly CommandEntry[] = [
  { names: ['agents'], add: addAgents },
  { names: ['answer'], add: addAnswer },
  { names: ['logs'], add: addLogs },
  { names: ['attach'], add: addAttach },
  { names: ['take-over'], add: addTakeOver },
  { names: ['give-back'], add: addGiveBack },
  { names: ['pause'], add: addPause },
  { names: ['resume'], add: addResume },
  { names: ['restart'], add: addRestart },
  { names: ['cancel'], add: addCancel },
  { names: ['cost'], add: addCost },
  { names: ['stats'], add: addStats },
];

function addAgents(program: CopseCommand, on: On): void {
  program
    .command('agents')
    .argument('[detect]', 'show which agent programs are installed, and whether they start')
    .description(agentOperations.running.description)
    .option('--json', 'print { "running": [...], "agents": [...] }, or { "runtimes": [...] }')
    .examples([
      ['copse agents', 'which agents run, and which are configured'],
      ['copse agents detect', 'which agent programs are installed'],
    ])
    .action(on(() => import('../../commands/agents/agents.ts')));
}

function addAnswer(program: CopseCommand, on: On): void {
  program
    .command('answer')
    .argument('<id>', aTask)
    .argument('[verdict]', 'allow or deny; without it, shows the question')
    .description(taskOperations.answer.description)
    .option('--message <text>', 'a message to the agent')
    .option('--question <id>', 'answer only if this is still the open question')
    .option('--json', 'print { "question", "isAllowed", "message" }')
    .examples([
      ['copse answer a1b2', 'show the question'],
      ['copse answer a1b2 allow', ''],
      ['copse answer a1b2 deny --message "Use npm ci"', ''],
    ])
    .action(on(() => import('../../commands/agents/answer.ts')));
}

function addLogs(program: CopseCommand, on: On): void {
  program
    .command('logs')
    .argument('<id>', `${aTask}; or a job id`)
    .description(agentOperations.logs.description)
    .option('-f, --follow', 'keep printing new output')
    .option('-n, --lines <n>', 'number of lines from the end (default: 200)')
    .option('--all', 'the whole output of all attempts')
    .option('--runner', 'show the log of its runner instead: handbacks, crashes, problems')
    .option('--attempt <id>', 'only this attempt; --json also prints "next", for --after')
    .option('--after <byte>', 'with --attempt: only output after this byte (the last "next")')
    .option('--json', 'print { "task", "logs": [{ "attempt", "file", "lines", … }] }')
    .examples([
      ['copse logs a1b2 --follow', 'until Ctrl+C'],
      ['copse logs a1b2 -n 20', 'the last 20 lines'],
    ])
    .action(on(() => import('../../commands/agents/logs.ts')));
}

function addAttach(program: CopseCommand, on: On): void {
  program
    .command('attach')
    .argument('<id>', aTask)
    .description('Attach to the terminal of an agent that runs in tmux.')
    .details(
      'Ctrl+B D detaches; the agent keeps running. Agents run in tmux with `terminal: tmux` in copse.yml.',
    )
    .examples([
      ['copse attach a1b2', ''],
      ['copse attach cp-a1b2', 'the whole id'],
    ])
    .action(on(() => import('../../commands/agents/attach.ts')));
}

function addTakeOver(program: CopseCommand, on: On): void {
  program
    .command('take-over')
    .argument('<id>', aTask)
    .description(agentOperations.takeOver.description)
    .details(
      'Before a take-over, the dashboard only shows the terminal. A take-over ends with `copse give-back`, or when the agent ends. Other people see who has taken over. `copse attach` works without a take-over.',
    )
    .option('--json', 'print { "task", "session", "person", … }')
    .examples([
      ['copse take-over a1b2', ''],
      ['copse take-over a1b2 --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/sessions/take-over.ts')));
}

function addGiveBack(program: CopseCommand, on: On): void {
  program
    .command('give-back')
    .argument('<id>', aTask)
    .description(agentOperations.giveBack.description)
    .option('--json', 'print { "task", "isNew" }')
    .examples([
      ['copse give-back a1b2', ''],
      ['copse give-back a1b2 --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/sessions/give-back.ts')));
}

function addPause(program: CopseCommand, on: On): void {
  program
    .command('pause')
    .argument('<id>', aTask)
    .description(taskOperations.pause.description)
    .option('--json', 'print the task as JSON')
    .examples([
      ['copse pause a1b2', ''],
      ['copse pause a1b2 --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/tasks/pause.ts')));
}

function addResume(program: CopseCommand, on: On): void {
  program
    .command('resume')
    .argument('<id>', aTask)
    .description(taskOperations.resume.description)
    .details('It starts tasks that are paused, in review or done, or that need attention.')
    .option('--message <text>', 'a message to the agent')
    .option('--command <line>', 'a shell command to use as the agent')
    .option('--json', 'print the task as JSON')
    .examples([
      ['copse resume a1b2', ''],
      ['copse resume a1b2 --message "Please add a test"', ''],
    ])
    .action(on(() => import('../../commands/tasks/resume.ts')));
}

function addRestart(program: CopseCommand, on: On): void {
  program
    .command('restart')
    .argument('<id>', aTask)
    .description(taskOperations.restart.description)
    .option('--answer <text>', 'the answer for the agent of a stuck task')
    .option('--command <line>', 'a shell command to use as the agent')
    .option('--json', 'print the task as JSON')
    .details(
      'The worktree stays the same. A stuck task starts at once. A failed one starts at once with --command; without it, an orchestrator starts it.',
    )
    .examples([
      ['copse restart a1b2', ''],
      ['copse restart a1b2 --answer "Keep both tables"', ''],
    ])
    .action(on(() => import('../../commands/tasks/restart.ts')));
}

function addCancel(program: CopseCommand, on: On): void {
  program
    .command('cancel')
    .argument('<id>', aTask)
    .description(taskOperations.cancel.description)
    .option('--reason <text>', 'why')
    .option('--json', 'print the task as JSON')
    .examples([
      ['copse cancel a1b2', ''],
      ['copse cancel a1b2 --reason "Not needed"', ''],
    ])
    .action(on(() => import('../../commands/tasks/cancel.ts')));
}

function addCost(program: CopseCommand, on: On): void {
  program
    .command('cost')
    .description(agentOperations.cost.description)
    .option('--by <group>', 'task, agent, day or agent_day (default: task)')
    .option('--since <time>', '7d, 12h, a day (2026-11-30) or a time')
    .option('--plan <id>', 'only the tasks of this plan')
    .option('--json', 'print { "rows": [...], "total" }')
    .details(
      'Copse counts only the dollars that an agent program reports. Days begin at midnight, local time.',
    )
    .examples([
      ['copse cost --by day --since 7d', 'the last week'],
      ['copse cost --by agent --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/agents/cost.ts')));
}

function addStats(program: CopseCommand, on: On): void {
  program
    .command('stats')
    .description(agentOperations.stats.description)
    .option('--weeks <n>', 'how many weeks, with this one (default: 8)')
    .option('--json', 'print { "weeks", "since", "rows": [...], "total" }')
    .details(
      [
        'attempts: how often an agent started or continued a task.',
        'crashes: the agent or its runner ended without a result.',
        'stuck: the task stopped with a question.',
        'attention: the task finished, but could not land without you.',
        'handbacks: the agent got its work back, to fix it.',
        'restarts: automatic restarts of stuck tasks (policy.max_stuck_restarts).',
        'Work that people do by hand does not count. Weeks begin on Monday, local time.',
      ].join('\n'),
    )
    .examples([
      ['copse stats', 'the last 8 weeks'],
      ['copse stats --weeks 1 --json', 'this week, for scripts'],
    ])
    .action(on(() => import('../../commands/board/stats.ts')));
}
