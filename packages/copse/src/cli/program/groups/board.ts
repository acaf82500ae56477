/** Commands about the board as a whole. */

import { boardOperations } from '../../../operations/board/group.ts';
import type { CopseCommand } from '../command.ts';
import { type CommandEntry, type On, byComma } from '../parts.ts';

export const boardCommands: readonly CommandEntry[] = [
  { names: ['serve'], add: addServe },
  { names: ['events'], add: addEvents },
  { names: ['export'], add: addExport },
  { names: ['import'], add: addImport },
  { names: ['board'], add: addBoard },
];

function addServe(program: CopseCommand, on: On): void {
  program
    .command('serve')
    .description('Serve the board over HTTP on this machine, until Ctrl+C.')
    .option('--port <number>', 'the port; 0: any free one (default: 4747, or a free one)')
    .option('--open', 'open the address in your browser')
    .option('--host <host>', 'the address to listen on (default: 127.0.0.1)')
    .option('--tls-cert <file>', 'a certificate in PEM form; needed if --host is not this machine')
    .option('--tls-key <file>', 'the key of the certificate')
    .option(
      '--behind-proxy <host>',
      'the public name of a TLS proxy in front of the server; the proxy must pass the Host header on (repeat)',
      byComma,
    )
    .details(
      'Every request needs a token. Open the printed address in a browser, or exchange its code for a token; the code works once (docs/guides/server.md). For curl, the token is in ~/.cache/copse-serve/<host>-<port>.header, which only you can read, until the server stops. A request to a trigger has a signature instead of a token.',
    )
    .examples([
      ['copse serve', ''],
      ['copse serve --open', 'and open it in your browser'],
      ['copse serve --port 0', 'on any free port'],
    ])
    .action(on(() => import('../../commands/server/serve.ts')));
}

function addEvents(program: CopseCommand, on: On): void {
  program
    .command('events')
    .description('Show the events of the board, oldest first.')
    .option('--task <id>', 'only events of this task')
    .option('--after <cursor>', 'only events after this one: its number, or its "cursor" in --json')
    .option('--last <count>', 'only the latest events')
    .option('-f, --follow', 'keep printing new events until Ctrl+C')
    .option('--raw', 'print the types of the events instead of sentences')
    .option('--json', 'print one JSON document per line')
    .examples([
      ['copse events --last 20', 'what happened just now'],
      ['copse events --follow --json', 'for scripts and integrations'],
    ])
    .action(on(() => import('../../commands/setup/events.ts')));
}

function addExport(program: CopseCommand, on: On): void {
  program
    .command('export')
    .argument('[file]', 'the file to write (default: standard output)')
    .description('Export the board as JSON lines.')
    .option('--force', 'replace an existing file')
    .examples([
      ['copse export board.jsonl', ''],
      ['copse export | gzip > board.jsonl.gz', ''],
    ])
    .action(on(() => import('../../commands/setup/export.ts')));
}

function addImport(program: CopseCommand, on: On): void {
  program
    .command('import')
    .argument('<file>', 'an export (- for standard input)')
    .description(boardOperations.import.description)
    .option('--json', 'print the result as JSON')
    .examples([
      ['copse import board.jsonl', ''],
      ['COPSE_BOARD=postgres://db.example/team copse import board.jsonl', 'move to PostgreSQL'],
    ])
    .action(on(() => import('../../commands/setup/import.ts')));
}

function addBoard(program: CopseCommand, on: On): void {
  const board = program.command('board').description('Back up, restore, move, migrate or rebuild the board.');
  board
    .command('backup')
    .description(boardOperations.backup.description)
    .option('--json', 'print { "file" }')
    .examples([
      ['copse board backup', ''],
      ['copse board backup --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/board/backup.ts')));
  board
    .command('restore')
    .argument('[snapshot]', 'its name, or a file (default: list them, and ask on a terminal)')
    .description('Replace the board by a snapshot; the old board is kept in a file.')
    .option('--yes', 'do not ask')
    .option('--json', 'print { "snapshots": [...] }, or { "restored", "board", "aside" }')
    .examples([
      ['copse board restore', 'which snapshots there are'],
      ['copse board restore 20261118T031945123Z-asked.db --yes', 'without a question'],
    ])
    .action(on(() => import('../../commands/board/restore.ts')));
  board
    .command('migrate')
    .description('Move the board between SQLite and PostgreSQL, or migrate it to the version of this Copse.')
    .option('--to <address>', 'move it to a PostgreSQL address, or "sqlite" for the file of this repository')
    .option('--force', 'without --to: migrate also while nodes or agents of an older Copse use it; they stop')
    .option('--json', 'print { "from", "to", "records", "events", "aside" }; without --to, { "from", "to" }')
    .details(
      'Before a move, stop orchestrators and agents on all machines. Copse reads the copy back, compares every line, and then marks the old board as moved. The old board is kept, read-only. After an interruption, run the same command again.\nWithout --to: updates the board to this Copse version. Every command does this too, unless a node with an older Copse runs.',
    )
    .examples([
      ['copse board migrate --to postgres://db.example/team', 'for several machines'],
      ['copse board migrate --to sqlite', 'back into a file'],
      ['copse board migrate', 'to the version of this Copse'],
      ['copse board migrate --force', 'without waiting for older nodes'],
    ])
    .action(on(() => import('../../commands/board/migrate.ts')));
  board
    .command('rebuild')
    .description('Add lost tasks to the board again, from git and the worktrees.')
    .option('--empty', 'only create a new, empty board when the old one is lost')
    .option('--json', 'print { "found", "tasks": [...] }')
    .details(
      [
        'Each task gets one of these statuses:',
        'in_review: its branch has commits that did not land.',
        'paused: its worktree has no commits.',
        'done: a landed commit names it.',
        'Git does not know assignments, priorities, dependencies, plans and the ledger, so these stay lost.',
      ].join('\n'),
    )
    .examples([
      ['copse board rebuild', 'after the board was lost'],
      ['copse board rebuild --empty', 'a new board without tasks'],
    ])
    .action(on(() => import('../../commands/board/rebuild.ts')));
}
