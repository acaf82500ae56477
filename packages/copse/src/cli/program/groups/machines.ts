/** Commands about the machines that share a board. */

import { defaultPolicy } from '../../../kernel/policy.ts';
import { spanText } from '../../../kernel/time.ts';
import { nodeOperations } from '../../../operations/nodes/group.ts';
import { taskOperations } from '../../../operations/tasks/group.ts';
import type { CopseCommand } from '../command.ts';
import { type CommandEntry, type On, aTask } from '../parts.ts';

export const machinesCommands: readonly CommandEntry[] = [
  { names: ['node'], add: addNode },
  { names: ['move'], add: addMove },
];

const aNode = 'the name or the id of a node';

function addNode(program: CopseCommand, on: On): void {
  const node = program.command('node').description('Show and control the machines that share this board.');
  node
    .command('list')
    .description(nodeOperations.list.description)
    .option('--all', 'with the nodes that left')
    .option('--json', 'print { "nodes": [...] }')
    .examples([
      ['copse node list', ''],
      ['copse node list --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/nodes/list.ts')));
  node
    .command('show')
    .argument('<node>', aNode)
    .description(nodeOperations.show.description)
    .option('--json', 'print the node as JSON')
    .details(
      'The clock offset is the clock of the board’s server minus that of the node. It is only shown: no decision uses it.',
    )
    .examples([
      ['copse node show build-1', ''],
      ['copse node show build-1 --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/nodes/show.ts')));
  addDrain(node, on);
  node
    .command('resume')
    .argument('<node>', aNode)
    .description(nodeOperations.resume.description)
    .option('--json', 'print the node as JSON')
    .examples([
      ['copse node resume build-1', ''],
      ['copse node resume build-1 --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/nodes/resume.ts')));
  node
    .command('leave')
    .argument('<node>', aNode)
    .description(nodeOperations.leave.description)
    .option('--json', 'print the node as JSON')
    .details('A running orchestrator of this node stops. Starting it again lets the node join again.')
    .examples([
      ['copse node leave build-1', ''],
      ['copse node leave n-2x4k9mzq7c1d --json', 'by its id'],
    ])
    .action(on(() => import('../../commands/nodes/leave.ts')));
  node
    .command('rename')
    .argument('<node>', aNode)
    .argument('<name>', 'its new name')
    .description(nodeOperations.rename.description)
    .option('--json', 'print the node as JSON')
    .examples([
      ['copse node rename build-1 build-eu', ''],
      ['copse node rename build-1 build-eu --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/nodes/rename.ts')));
}

function addDrain(node: CopseCommand, on: On): void {
  node
    .command('drain')
    .argument('<node>', aNode)
    .description(nodeOperations.drain.description)
    .option(
      '--within <time>',
      `how long running work may go on; 0s: not at all (default: policy.drain_within, ${spanText(defaultPolicy.nodes.drainMs)})`,
    )
    .option('--preview', 'only show what would move, and which nodes can take it')
    .option('--json', 'print the node as JSON; with --preview, { "tasks": [...] }')
    .details(
      'At the deadline, its orchestrator stops the agents, saves their work, and makes the tasks ready for other nodes; no retry is used up. SIGTERM does the same and ends the orchestrator; a second SIGTERM hands over at once.',
    )
    .examples([
      ['copse node drain build-1 --preview', 'what would move'],
      ['copse node drain build-1 --within 30m', 'before a restart of the machine'],
    ])
    .action(on(() => import('../../commands/nodes/drain.ts')));
}

function addMove(program: CopseCommand, on: On): void {
  program
    .command('move')
    .argument('<id>', aTask)
    .requiredOption('--to <node>', aNode)
    .description(taskOperations.move.description)
    .option('--json', 'print the task as JSON')
    .details(
      'The task must be pending, ready or in progress. A running agent is stopped and its work is saved first. Only that node can take the task next, unless the node leaves the board.',
    )
    .examples([
      ['copse move a1b2 --to build-2', ''],
      ['copse move a1b2 --to build-2 --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/nodes/move.ts')));
}
