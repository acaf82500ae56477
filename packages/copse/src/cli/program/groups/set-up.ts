/** Commands that set up a machine or a repository. */

import { setupOperations } from '../../../operations/setup/group.ts';
import type { CopseCommand } from '../command.ts';
import { topics } from '../help.ts';
import type { CommandEntry, On } from '../parts.ts';

export const setUpCommands: readonly CommandEntry[] = [
  { names: ['init'], add: addInit },
  { names: ['config'], add: addConfig },
  { names: ['doctor'], add: addDoctor },
  { names: ['demo'], add: addDemo },
  { names: ['shell-init'], add: addShellInit },
  { names: ['completion'], add: addCompletion },
  { names: ['help'], needsAll: true, add: addHelp },
];

function addInit(program: CopseCommand, on: On): void {
  program
    .command('init')
    .description('Write a copse.yml for the agent programs that are installed.')
    .option('--dry-run', 'only print it')
    .option('--yes', 'accept the set-up files of the repository without asking')
    .examples([
      ['copse init --dry-run', 'only print it'],
      ['copse init', ''],
    ])
    .action(on(() => import('../../commands/setup/init.ts')));
}

function addConfig(program: CopseCommand, on: On): void {
  program
    .command('config')
    .argument('[what]', 'show, check, pending, accept, schema or accept-remotes', 'show')
    .description('Show or check the configuration; accept changed settings or remotes.')
    .option('--yes', 'with accept: do not ask')
    .option('--json', 'print it as JSON')
    .details(
      'Copse uses the accepted version of copse.yml and of the set-up files. A change, also one that landed, takes effect after you run `copse config accept`. `copse config accept-remotes` accepts changed addresses of git remotes.',
    )
    .examples([
      ['copse config check', ''],
      ['copse config accept', 'show what changed, and ask'],
    ])
    .action(on(() => import('../../commands/setup/config.ts')));
}

function addDoctor(program: CopseCommand, on: On): void {
  program
    .command('doctor')
    .description(setupOperations.doctor.description)
    .option('--json', 'print { "checks": [...] }')
    .examples([
      ['copse doctor', ''],
      ['copse doctor --json', 'for scripts'],
    ])
    .action(on(() => import('../../commands/setup/doctor.ts')));
}

function addDemo(program: CopseCommand, on: On): void {
  program
    .command('demo')
    .description('Watch scripted agents finish seven tasks, in under a minute.')
    .option('--dir <folder>', 'an empty or new folder (default: a temporary folder)')
    .option('--keep', 'use a new folder copse-demo in the current folder')
    .option('--speed <factor>', 'speed of the agents: 2 is twice as fast')
    .option('--dashboard', 'watch it in the browser, and answer the question there')
    .details(
      'It shows a crash, a conflict and a question. It needs no API key and no network, and changes nothing outside its folder. The folder stays; the last line says how to delete it. Ctrl+C ends the demo and its agents.',
    )
    .examples([
      ['copse demo', ''],
      ['copse demo --dir ~/thermo --speed 2', 'twice as fast, in this folder'],
      ['copse demo --dashboard', 'in the browser'],
    ])
    .action(on(() => import('../../commands/setup/demo.ts')));
}

function addShellInit(program: CopseCommand, on: On): void {
  program
    .command('shell-init')
    .argument('<shell>', 'bash, zsh or fish')
    .description('Print a shell function for copse switch.')
    .examples([
      ['eval "$(copse shell-init bash)"', 'in ~/.bashrc; for zsh in ~/.zshrc'],
      ['copse shell-init fish | source', 'in config.fish'],
    ])
    .action(on(() => import('../../commands/setup/shell-init.ts')));
}

function addCompletion(program: CopseCommand, on: On): void {
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .description('Print a completion script for your shell.')
    .examples([
      ['source <(copse completion bash)', 'in ~/.bashrc'],
      ['copse completion fish | source', 'in config.fish'],
    ])
    .action(on(() => import('../../commands/setup/completion.ts')));
}

function addHelp(program: CopseCommand, on: On): void {
  program
    .command('help')
    .argument('[words...]', `a command, a topic (${Object.keys(topics).join(', ')}), or all`)
    .description('Show the help of a command, or a page about a topic.')
    .examples([
      ['copse help plan add', 'the same as copse plan add --help'],
      ['copse help states', 'what the status of a task means'],
    ])
    .action(on(() => import('../../commands/setup/help.ts')));
}
