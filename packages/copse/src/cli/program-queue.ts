/** The commands about the queue of what is to land. */

import type { Command } from 'commander';

import { type On, examples } from './program-parts.ts';

const someTasks = 'tasks in the queue, by any unique beginning of their ids';
const aTarget = 'of this branch (default: landing.target, or the base branch)';

export function addQueueCommands(program: Command, on: On): void {
  const queue = program
    .command('queue')
    .description('Show what is to land: its place, why it waits and behind whom, and how long it may take.')
    .option('--target <branch>', 'only the queue of this branch')
    .option('-w, --watch', 'go on showing it, on a terminal, until Ctrl+C')
    .option('--json', 'print { "queues": [...] }')
    .addHelpText(
      'after',
      '\nTimes go from "everything is green" to "every batch has to be split"; there are none until a check was green once.',
    )
    .addHelpText(
      'after',
      examples([
        ['copse queue --watch', ''],
        ['copse queue front a1b2 --dry-run', 'what a hotfix would cost the others'],
      ]),
    )
    .action(on(() => import('./commands/queue/queue.ts')));
  queue
    .command('pause')
    .description('Land nothing, or accept nothing more. What is in the queue stays there.')
    .option('--land', 'the branch stays where it is, and no more checks are begun (the default)')
    .option('--accept', 'what comes now waits outside; what is in the queue already lands')
    .option('--reason <text>', 'why, for whoever waits')
    .option('--target <branch>', aTarget)
    .option('--json', 'print { "target", "paused" }')
    .addHelpText('after', examples([['copse queue pause --reason "release day"', '']]))
    .action(on(() => import('./commands/queue/queue-pause.ts')));
  queue
    .command('resume')
    .description('Go on after a pause.')
    .option('--land', 'land again')
    .option('--accept', 'accept again')
    .option('--target <branch>', aTarget)
    .option('--json', 'print { "target", "paused" }')
    .action(on(() => import('./commands/queue/queue-resume.ts')));
  queue
    .command('front')
    .argument('<ids...>', someTasks)
    .description('A hotfix: to the front, and checked alone. Nothing else lands until it has.')
    .option('--dry-run', 'only say which checks would start over')
    .option('--json', 'print { "tasks", "restarts", "isDryRun" }')
    .action(on(() => import('./commands/queue/queue-front.ts')));
  queue
    .command('cancel')
    .argument('<ids...>', someTasks)
    .description('Take tasks out of the queue, back to review. Branches and pull requests stay as they are.')
    .option('--reason <text>', 'why')
    .option('--dry-run', 'only say which checks would start over')
    .option('--json', 'print { "tasks", "restarts", "isDryRun" }')
    .addHelpText('after', '\nOnce a landing is written down as begun it is finished; then this is refused.')
    .action(on(() => import('./commands/queue/queue-cancel.ts')));
  queue
    .command('retry')
    .argument('<ids...>', 'tasks in review, that need attention, or that wait in the queue')
    .description('Put tasks into the queue again, or look again at once at what one waits for.')
    .option('--json', 'print { "landings": [...] }')
    .addHelpText(
      'after',
      `
Checks that could not run are begun at once, and a target that was red is checked anew.
It does not wait for them to land: copse merge does.`,
    )
    .action(on(() => import('./commands/queue/queue-retry.ts')));
}
