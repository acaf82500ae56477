/** The commands about the merge queue. */

import type { Command } from 'commander';

import { type On, examples } from './parts.ts';

const someTasks = 'tasks in the queue: ids, or unique beginnings of ids';
const aTarget = 'the target branch (default: landing.target, or the base branch)';

export function addQueueCommands(program: Command, on: On): void {
  program.commandsGroup('Review and land:');
  const queue = program
    .command('queue')
    .description('Show the merge queue: what waits, why, and for how long.')
    .option('--target <branch>', 'only the queue of this branch')
    .option('-w, --watch', 'keep showing it until Ctrl+C (needs a terminal)')
    .option('--json', 'print { "queues": [...] }')
    .addHelpText(
      'after',
      '\nTimes range from "all checks pass" to "every batch must be split"; they appear after the first check that passed.',
    )
    .addHelpText(
      'after',
      examples([
        ['copse queue --watch', ''],
        ['copse queue front a1b2 --dry-run', 'which checks a hotfix would restart'],
      ]),
    )
    .action(on(() => import('../commands/queue/queue.ts')));
  queue
    .command('pause')
    .description('Stop landing, or stop accepting tasks.')
    .option('--land', 'land nothing and start no checks (the default)')
    .option('--accept', 'accept no more tasks; tasks in the queue still land')
    .option('--reason <text>', 'why, shown to people who wait')
    .option('--target <branch>', aTarget)
    .option('--json', 'print { "target", "paused" }')
    .addHelpText('after', examples([['copse queue pause --reason "release day"', '']]))
    .action(on(() => import('../commands/queue/queue-pause.ts')));
  queue
    .command('resume')
    .description('End a pause.')
    .option('--land', 'land again')
    .option('--accept', 'accept tasks again')
    .option('--target <branch>', aTarget)
    .option('--json', 'print { "target", "paused" }')
    .addHelpText('after', examples([['copse queue resume', '']]))
    .action(on(() => import('../commands/queue/queue-resume.ts')));
  queue
    .command('front')
    .argument('<ids...>', someTasks)
    .description('Move tasks to the front, to be checked alone (hotfix).')
    .option('--dry-run', 'only show which checks would restart')
    .option('--json', 'print { "tasks", "restarts", "isDryRun" }')
    .addHelpText('after', examples([['copse queue front a1b2', '']]))
    .action(on(() => import('../commands/queue/queue-front.ts')));
  queue
    .command('cancel')
    .argument('<ids...>', someTasks)
    .description('Take tasks out of the queue, back to review.')
    .option('--reason <text>', 'why')
    .option('--dry-run', 'only show which checks would restart')
    .option('--json', 'print { "tasks", "restarts", "isDryRun" }')
    .addHelpText('after', '\nBranches and pull requests are not touched. Refused once the landing has begun.')
    .addHelpText('after', examples([['copse queue cancel a1b2 --reason "Not before the release"', '']]))
    .action(on(() => import('../commands/queue/queue-cancel.ts')));
  queue
    .command('retry')
    .argument('<ids...>', 'tasks in review, in the queue, or that need attention')
    .description('Queue tasks again, or retry their failed checks now.')
    .option('--json', 'print { "landings": [...] }')
    .addHelpText(
      'after',
      `
Checks that could not run start at once, and a target whose checks failed is checked again.
It does not wait for the landing; copse merge does.`,
    )
    .addHelpText('after', examples([['copse queue retry a1b2', '']]))
    .action(on(() => import('../commands/queue/queue-retry.ts')));
}
