/** Commands about work that comes in without a person typing it. */

import { intakeOperations } from '../../../operations/intake/group.ts';
import type { CopseCommand } from '../command.ts';
import type { CommandEntry, On } from '../parts.ts';

export const intakeCommands: readonly CommandEntry[] = [
  { names: ['schedule'], add: addSchedule },
  { names: ['trigger'], add: addTrigger },
  { names: ['jobs'], add: addJobs },
  { names: ['sources'], add: addSources },
];

const aSchedule = 'a schedule: <agent>/<name>, or its name if only one agent has it';

function addSchedule(program: CopseCommand, on: On): void {
  const schedule = program.command('schedule').description('Show and control when agents start.');
  schedule
    .command('list')
    .description(intakeOperations.scheduleList.description)
    .option('--json', 'print { "schedules": [...] }')
    .examples([
      ['copse schedule list', ''],
      ['copse schedule list --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/intake/schedule-list.ts')));
  schedule
    .command('show')
    .argument('<schedule>', aSchedule)
    .description(intakeOperations.scheduleShow.description)
    .option('--json', 'print the schedule as JSON')
    .examples([
      ['copse schedule show nightly', ''],
      ['copse schedule show coder/nightly --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/intake/schedule-show.ts')));
  schedule
    .command('run')
    .argument('<schedule>', aSchedule)
    .description(intakeOperations.scheduleRun.description)
    .option('--json', 'print { "job", "task" }')
    .details(
      'This works also while the schedule is paused or its last run is still going. Without an orchestrator the task waits.',
    )
    .examples([
      ['copse schedule run nightly', ''],
      ['copse schedule run nightly --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/intake/schedule-run.ts')));
  schedule
    .command('pause')
    .argument('<schedule>', aSchedule)
    .description(intakeOperations.schedulePause.description)
    .option('--json', 'print the schedule as JSON')
    .details('Runs that have begun go on. To stop one: copse pause <task>')
    .examples([
      ['copse schedule pause nightly', ''],
      ['copse schedule pause coder/nightly --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/intake/schedule-pause.ts')));
  schedule
    .command('resume')
    .argument('<schedule>', aSchedule)
    .description(intakeOperations.scheduleResume.description)
    .option('--json', 'print the schedule as JSON')
    .examples([
      ['copse schedule resume nightly', ''],
      ['copse schedule resume coder/nightly --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/intake/schedule-resume.ts')));
}

function addTrigger(program: CopseCommand, on: On): void {
  program
    .command('trigger')
    .argument('<name>', 'a trigger of copse.yml, or an agent')
    .description(intakeOperations.trigger.description)
    .option('--item <source#id>', 'the work item that the job is about, for example github#12')
    .option('--prompt <text>', 'the text for the agent (default: the prompt of the trigger)')
    .option('--json', 'print { "job", "task" }')
    .details('Copse refuses a work item that already has a task.')
    .examples([
      ['copse trigger coder --prompt "Look at the failing build"', ''],
      ['copse trigger coder --item github#12 --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/intake/trigger.ts')));
}

function addJobs(program: CopseCommand, on: On): void {
  const jobs = program
    .command('jobs')
    .description(intakeOperations.jobs.description)
    .option('--all', 'all runs, not only the last 50')
    .option('--limit <n>', 'a page of n, the newest first')
    .option('--cursor <cursor>', 'the next page: the "cursor" that --json printed for the last one')
    .option('--json', 'print { "jobs": [...], "cursor" }')
    .examples([
      ['copse jobs', ''],
      ['copse jobs --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/intake/jobs.ts')));
  jobs
    .command('show')
    .argument('<job>', 'a job id, or the unique beginning of one')
    .description(intakeOperations.jobShow.description)
    .option('--json', 'print the job as JSON')
    .examples([
      ['copse jobs show jb-4f9k', ''],
      ['copse jobs show jb-4f9k --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/intake/jobs-show.ts')));
}

function addSources(program: CopseCommand, on: On): void {
  const sources = program
    .command('sources')
    .description('Show and read the sources of work items: lists, issues, programs.');
  sources
    .command('list')
    .description(intakeOperations.sourceList.description)
    .option('--json', 'print { "sources": [...] }')
    .details(
      'Sources are set in copse.yml, for example: sources: { todo: { type: markdown, files: [TODO.md] } }',
    )
    .examples([
      ['copse sources list', ''],
      ['copse sources list --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/intake/sources-list.ts')));
  sources
    .command('sync')
    .argument('[names...]', 'names of sources (default: all)')
    .description(intakeOperations.sourceSync.description)
    .option('--dry-run', 'only say what would happen')
    .option('--json', 'print { "sources": [...] }')
    .details('A running orchestrator does the same at the interval of each source.')
    .examples([
      ['copse sources sync --dry-run', 'what would become a task'],
      ['copse sources sync todo', 'one source'],
    ])
    .action(on(() => import('../../commands/intake/sources-sync.ts')));
  sources
    .command('show')
    .argument('<name>', 'the name of a source')
    .description(intakeOperations.sourceShow.description)
    .option('--json', 'print the source as JSON')
    .examples([
      ['copse sources show todo', ''],
      ['copse sources show todo --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/intake/sources-show.ts')));
}
