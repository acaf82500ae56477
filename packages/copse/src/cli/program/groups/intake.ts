/** Commands about work that comes in without a person typing it. */

import type { CopseCommand } from '../command.ts';
import type { CommandEntry, On } from '../parts.ts';

export const intakeCommands: readonly CommandEntry[] = [{ names: ['sources'], add: addSources }];

function addSources(program: CopseCommand, on: On): void {
  const sources = program
    .command('sources')
    .description('Show and read the sources of work items: lists, issues, programs.');
  sources
    .command('list')
    .description('List the sources of copse.yml: items, the last look, rate limits.')
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
    .description('Look at the sources now: new items become tasks, and items are told what became of theirs.')
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
    .description('Show a source and its items, each with its task.')
    .option('--json', 'print the source as JSON')
    .examples([
      ['copse sources show todo', ''],
      ['copse sources show github --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/intake/sources-show.ts')));
}
