/** The groups of operations in the OpenAPI document: the first part of each name. */

const descriptions: Readonly<Record<string, string>> = {
  server: 'The running server: snapshot, events, tickets, codes, figures.',
  board: 'The board as a whole: its state, backups, imports.',
  inbox: 'What needs a person.',
  task: 'Tasks, from adding to landing.',
  question: 'Questions that agents ask.',
  plan: 'Plans, which group tasks.',
  ledger: 'What agents learned and decided in a task.',
  artifact: 'Files and texts that tasks leave behind.',
  agent: 'The agents of copse.yml, and agent programs on this machine.',
  cost: 'What agents cost.',
  session: 'Terminals of agents, taken over by a person.',
  stats: 'Figures by week.',
  schedule: 'Work that comes at set times.',
  trigger: 'Work that a signed request starts.',
  job: 'What schedules and triggers started.',
  source: 'Lists and issues from which tasks come.',
  config: 'copse.yml: settings, and which version a person accepted.',
  notice: 'Messages to a person outside Copse.',
  machine: 'This machine: whether Copse can work here.',
  worktree: 'Worktrees of tasks: list, sync, remove, bring back.',
  landing: 'Landed work, taken back.',
  rescue: 'Work that was saved before files were removed.',
  leftovers: 'Branches, worktrees and refs that no task needs.',
  node: 'Machines that share the board.',
  event: 'What happened, in pages.',
  queue: 'Merge queues, one for each target.',
  radar: 'Branches that will conflict.',
  review: 'Work that waits for a person to approve it.',
};

export function describedTag(name: string): { readonly name: string; readonly description?: string } {
  const description = descriptions[name];
  return { name, ...(description !== undefined && { description }) };
}
