/** Commands that agents and their programs call. */

import { openPhases } from '../../../agents/rules/session/session.ts';
import { agentOperations } from '../../../operations/agents/group.ts';
import type { CopseCommand } from '../command.ts';
import { type CommandEntry, type On, aTask, taskHere } from '../parts.ts';

export const forAgentsCommands: readonly CommandEntry[] = [
  { names: ['finish'], add: addFinish },
  { names: ['stuck'], add: addStuck },
  { names: ['phase'], add: addPhase },
  { names: ['heartbeat'], add: addHeartbeat },
  { names: ['notify'], add: addNotify },
  { names: ['mcp'], add: addMcp },
  { names: ['hook'], add: addHook },
];

function addFinish(program: CopseCommand, on: On): void {
  program
    .command('finish')
    .argument('[id]', taskHere)
    .description(agentOperations.finish.description)
    .option('--no-changes', 'there was nothing to change')
    .option('--summary <text>', 'what was done, in one or two lines')
    .option('--json', 'print the report as JSON')
    .examples([
      ['copse finish --summary "Refuse empty tokens"', ''],
      ['copse finish --no-changes', 'it was already done'],
    ])
    .action(on(() => import('../../commands/agents/finish.ts')));
}

function addStuck(program: CopseCommand, on: On): void {
  program
    .command('stuck')
    .argument('[id]', taskHere)
    .description(agentOperations.stuck.description)
    .option('--reason <text>', 'the question and the choices (- for standard input)')
    .option('--json', 'print the report as JSON')
    .examples([
      ['copse stuck --reason "Delete the old table, or keep both?"', ''],
      ['echo "Which port?" | copse stuck --reason -', 'from standard input'],
    ])
    .action(on(() => import('../../commands/agents/stuck.ts')));
}

function addPhase(program: CopseCommand, on: On): void {
  program
    .command('phase')
    .argument('<phase>', openPhases.join(', '))
    .argument('[id]', taskHere)
    .description(agentOperations.phase.description)
    .option('--json', 'print { "task", "phase" }')
    .examples([
      ['copse phase working', ''],
      ['copse phase shipping', ''],
    ])
    .action(on(() => import('../../commands/agents/phase.ts')));
}

function addHeartbeat(program: CopseCommand, on: On): void {
  program
    .command('heartbeat')
    .argument('[id]', taskHere)
    .description(agentOperations.heartbeat.description)
    .option('--json', 'print { "task", "alive" }')
    .examples([
      ['copse heartbeat', ''],
      ['copse heartbeat a1b2 --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/agents/heartbeat.ts')));
}

function addNotify(program: CopseCommand, on: On): void {
  program
    .command('notify')
    .argument('[kind]', 'permission, idle, or none (the agent no longer waits)')
    .argument('[id]', `${aTask} (default: the task of the session or worktree)`)
    .description(agentOperations.notify.description)
    .option('--message <text>', 'what it waits for')
    .option('--test', 'only send a test through every channel, and say which ones work')
    .option('--json', 'print { "task", "attention", "isNew" }, or { "channels": [...] }')
    .details(
      'Hooks of agent programs call this. Copse notifies you at once, with or without a running orchestrator; `notifications` in copse.yml says how.',
    )
    .examples([
      ['copse notify idle --message "Which port?"', 'in a worktree'],
      ['copse notify --test', 'does a notification reach you?'],
    ])
    .action(on(() => import('../../commands/agents/notify.ts')));
}

function addMcp(program: CopseCommand, on: On): void {
  program
    .command('mcp')
    .description('Serve the report commands to an agent as MCP tools.')
    .option(
      '--as <who>',
      'person: serve all commands that you can run, to your own assistant; refused in the session of an agent',
    )
    .details(
      'Agent programs start it in a task’s worktree, and speak MCP with it on standard input and output.',
    )
    .examples([
      ['claude mcp add copse -- copse mcp', 'register it with Claude Code'],
      ['gemini mcp add copse copse mcp', 'register it with Gemini CLI'],
      ['claude mcp add copse -- copse mcp --as person', 'for the assistant you talk to'],
    ])
    .action(on(() => import('../../commands/agents/mcp.ts')));
}

function addHook(program: CopseCommand, on: On): void {
  program
    .command('hook', { hidden: true })
    .argument('<kind>', 'stop, permission or notice')
    .description('Pass the question of an agent program’s hook to the runner.')
    .option('--timeout <seconds>', 'the longest time to wait for an answer')
    .action(on(() => import('../../commands/agents/hook.ts')));
}
