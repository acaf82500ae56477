/** Commands about reviews and landing. */

import { queueOperations } from '../../../operations/queue/group.ts';
import type { CopseCommand } from '../command.ts';
import { type CommandEntry, type On, aTarget, aTask, someTasks } from '../parts.ts';

export const landingCommands: readonly CommandEntry[] = [
  { names: ['review'], add: addReview },
  { names: ['merge'], add: addMerge },
  { names: ['queue'], add: addQueue },
  { names: ['radar'], add: addRadar },
];

function addReview(program: CopseCommand, on: On): void {
  program
    .command('review')
    .argument('[id]', `${aTask} (default: list all in review)`)
    .description('Show finished work; approve it or send it back.')
    .option('--approve', 'approve the current commit, so that it lands')
    .option('--head <commit>', 'with --approve: only if the branch is still at this commit')
    .option('--send-back [comment]', 'send it back to its agent with a comment')
    .option('-m, --message <comment>', 'the comment for --send-back')
    .option('--stat', 'only the files and numbers of lines')
    .option('--command <line>', 'with --send-back: a shell command to use as the agent')
    .option('--json', 'print { "reviews": [...] }, the review, or the decision')
    .details('A branch that moves after the approval does not land; it goes back to review.')
    .examples([
      ['copse review', 'which tasks wait for review'],
      ['copse review a1b2', 'show the changes; on a terminal, asks whether to approve'],
      ['copse review a1b2 --approve', ''],
      ['copse review a1b2 --send-back "Please add a test"', ''],
    ])
    .action(on(() => import('../../commands/queue/review.ts')));
}

function addMerge(program: CopseCommand, on: On): void {
  program
    .command('merge')
    .argument('<ids...>', 'tasks in review, in the queue, or that need attention')
    .description(queueOperations.merge.description)
    .option('--head <commit>', 'of one task: only if its branch is still at this commit')
    .option('--now', 'land without checks; Copse records that, and still refuses conflicts')
    .option('--json', 'print { "landings": [...] }')
    .details('Ctrl+C stops waiting; the tasks stay in the queue. To take them out: copse queue cancel <id>')
    .examples([
      ['copse merge a1b2', ''],
      ['copse merge a1b2 c3d4', ''],
    ])
    .action(on(() => import('../../commands/queue/merge.ts')));
}

function addQueue(program: CopseCommand, on: On): void {
  const queue = program
    .command('queue')
    .description(queueOperations.list.description)
    .option('--target <branch>', 'only the queue of this branch')
    .option('-w, --watch', 'keep showing it until q or Ctrl+C (needs a terminal)')
    .option('--json', 'print { "queues": [...] }')
    .details(
      'After one passed check, Copse shows two estimates of the time to land: the shortest, if all checks pass, and the longest, if every batch is split.',
    )
    .examples([
      ['copse queue --watch', ''],
      ['copse queue front a1b2 --dry-run', 'which checks a hotfix would restart'],
    ])
    .action(on(() => import('../../commands/queue/queue.ts')));
  queue
    .command('pause')
    .description(queueOperations.pause.description)
    .option('--land', 'land nothing and start no checks (the default)')
    .option('--accept', 'land the tasks in the queue; tasks that join it later wait')
    .option('--reason <text>', 'why, shown to people who wait')
    .option('--target <branch>', aTarget)
    .option('--json', 'print { "target", "paused" }')
    .examples([
      ['copse queue pause --reason "release day"', ''],
      ['copse queue pause --accept', 'land the tasks in the queue, and no more'],
    ])
    .action(on(() => import('../../commands/queue/queue-pause.ts')));
  queue
    .command('resume')
    .description(queueOperations.resume.description)
    .option('--land', 'land again')
    .option('--accept', 'accept tasks again')
    .option('--target <branch>', aTarget)
    .option('--json', 'print { "target", "paused" }')
    .examples([
      ['copse queue resume', ''],
      ['copse queue resume --accept', 'only accept tasks again'],
    ])
    .action(on(() => import('../../commands/queue/queue-resume.ts')));
  queue
    .command('front')
    .argument('<ids...>', someTasks)
    .description(queueOperations.front.description)
    .option('--dry-run', 'only show which checks would restart')
    .option('--json', 'print { "tasks", "restarts", "isDryRun" }')
    .examples([
      ['copse queue front a1b2 --dry-run', 'which checks would restart'],
      ['copse queue front a1b2', ''],
    ])
    .action(on(() => import('../../commands/queue/queue-front.ts')));
  queue
    .command('cancel')
    .argument('<ids...>', someTasks)
    .description(queueOperations.cancel.description)
    .option('--reason <text>', 'why')
    .option('--dry-run', 'only show which checks would restart')
    .option('--json', 'print { "tasks", "restarts", "isDryRun" }')
    .details(
      'Branches and pull requests stay as they are. A task that is already landing cannot be taken out.',
    )
    .examples([
      ['copse queue cancel a1b2 --dry-run', 'which checks would restart'],
      ['copse queue cancel a1b2 --reason "Not before the release"', ''],
    ])
    .action(on(() => import('../../commands/queue/queue-cancel.ts')));
  queue
    .command('retry')
    .argument('<ids...>', 'tasks in review, in the queue, or that need attention')
    .description(queueOperations.retry.description)
    .option('--json', 'print { "landings": [...] }')
    .details(`It also reruns checks that could not start, and the checks of the target branch if they fail.
The command does not wait for the landing; copse merge does.`)
    .examples([
      ['copse queue retry a1b2', ''],
      ['copse queue retry a1b2 c3d4', ''],
    ])
    .action(on(() => import('../../commands/queue/queue-retry.ts')));
}

function addRadar(program: CopseCommand, on: On): void {
  program
    .command('radar')
    .argument('[id]', `${aTask} (default: all pairs)`)
    .description(queueOperations.radar.description)
    .option('--json', 'print { "at", "branches": [...], "pairs": [...], "omitted" }')
    .details(
      'conflict: git cannot merge the two. overlap: both change the same files, and git can merge them. Uncommitted changes do not count.',
    )
    .examples([
      ['copse radar', 'all pairs'],
      ['copse radar a1b2', 'those of one task'],
    ])
    .action(on(() => import('../../commands/queue/radar.ts')));
}
