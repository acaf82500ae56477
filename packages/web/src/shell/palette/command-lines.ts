/**
 * The command line of every operation, so that what is done in the page can be done in a terminal, and the other way round.
 *
 * `<a>` is the field `a` as a word, `--x=<a>` as the value of an option, `--x?a` an option if `a` is true, `--<a>` an option
 * named by its value, `<a:yes|no>` one of two words. A list is repeated. A field that is not in its line is not asked for.
 */

import { shellWord } from '../../../../copse/src/kernel/shell.ts';
import type { OperationName } from '../../api/operations.ts';

interface Nowhere {
  /** Why a person has no use for it in a page. */
  readonly nowhere: string;
}

const DEFINITION =
  '--body=<body> --priority=<priority> --kind=<kind> --area=<areas> --requires=<requires> --accept=<accept> --plan=<plan> --agent=<agent>';

export const commandLines: Readonly<Record<OperationName, string | Nowhere>> = {
  'board.status': 'status',
  'inbox.list': 'inbox',
  'task.list': 'list --status=<status> --plan=<plan> --agent=<agent> --all?all --sort=<sort> --limit=<limit>',
  'task.show': 'show <task>',
  'task.why': 'why <task>',
  'task.add': `add <title> ${DEFINITION} --depends=<dependsOn> --from=<from>`,
  'task.add_item': 'add --item=<item>',
  'task.edit': `edit <task> --title=<title> ${DEFINITION} --depends=<addDependencies> --not-depends=<removeDependencies>`,
  'task.delete': 'delete <tasks> --unlink?unlink --keep-worktree?keepWorktree',
  'task.pause': 'pause <task>',
  'task.resume': 'resume <task> --message=<message> --command=<command>',
  'task.restart': 'restart <task> --answer=<answer> --command=<command>',
  'task.cancel': 'cancel <task> --reason=<reason>',
  'task.move': 'move <task> --to=<to>',
  'question.show': 'answer <task>',
  'question.answer': 'answer <task> <isAllowed:allow|deny> --message=<message> --question=<question>',
  'plan.add': 'plan add <title> --body=<body>',
  'plan.show': 'plan show <plan>',
  'plan.list': 'plan list',
  'ledger.add': 'ledger add <kind> <text> --task=<task>',
  'ledger.list': 'ledger list <task>',
  'artifact.list': 'artifact list <task> --all?all',
  'artifact.show': 'artifact show <artifact>',
  'artifact.add': 'artifact add <file> <uri> --title=<title> --task=<task>',
  'artifact.content': 'artifact get <artifact>',
  'agent.list': 'agents',
  'agent.detect': 'agents detect',
  'task.logs': 'logs <task> --lines=<lines> --all?all --runner?runner --attempt=<attempt> --after=<after>',
  'cost.show': 'cost --by=<by> --since=<since> --plan=<plan>',
  'stats.show': 'stats --weeks=<weeks>',
  'task.finish': 'finish <task> --no-changes?noChanges --summary=<summary>',
  'task.stuck': 'stuck <task> --reason=<reason>',
  'task.phase': {
    nowhere: 'An agent reports how far it is; a person who works by hand has no phases to report.',
  },
  'task.heartbeat': { nowhere: 'A process says that it lives. What a person works on by hand has no lease.' },
  'task.notify': { nowhere: 'The program of an agent reports that it waits for a person.' },
  'session.take_over': 'take-over <task>',
  'session.give_back': 'give-back <task>',
  'schedule.list': 'schedule list',
  'schedule.show': 'schedule show <schedule>',
  'schedule.run': 'schedule run <schedule>',
  'schedule.pause': 'schedule pause <schedule>',
  'schedule.resume': 'schedule resume <schedule>',
  'trigger.run': 'trigger <trigger> --item=<item> --prompt=<prompt>',
  'job.list': 'jobs --all?all --limit=<limit> --cursor=<cursor>',
  'job.show': 'jobs show <job>',
  'source.list': 'sources list',
  'source.show': 'sources show <source>',
  'source.sync': 'sources sync <sources> --dry-run?dryRun',
  'config.show': 'config show',
  'config.check': 'config check',
  'config.schema': 'config schema',
  'config.pending': 'config pending',
  'config.accept': 'config accept',
  'config.accept_remotes': 'config accept-remotes',
  'notice.test': 'notify --test',
  'machine.check': 'doctor',
  'task.work': 'work <task> --<existing>',
  'worktree.list': 'worktrees --all?all --size?size',
  'task.diff': 'diff <task> --uncommitted?uncommitted --stat?withoutPatch',
  'worktree.sync': 'sync <task> --conflict?leaveConflict',
  'worktree.cleanup': 'cleanup <task> --yes?unlanded --force?force --delete-branch?deleteBranch',
  'worktree.undo': 'undo <task> --worktree',
  'landing.undo': 'undo <task>',
  'landing.preview_undo': 'undo <task> --dry-run',
  'rescue.list': 'rescue list <task>',
  'rescue.show': 'rescue show <rescue>',
  'rescue.restore': 'rescue restore <rescue> --into=<into>',
  'rescue.move': 'rescue move <task> <paths>',
  'leftovers.sweep': 'sweep',
  'leftovers.list': 'sweep --dry-run',
  'node.list': 'node list --all?all',
  'node.show': 'node show <node>',
  'node.drain': 'node drain <node> --within=<withinMs>',
  'node.preview_drain': 'node drain <node> --preview',
  'node.resume': 'node resume <node>',
  'node.leave': 'node leave <node>',
  'node.rename': 'node rename <node> <name>',
  'event.list': 'events --task=<task> --after=<after> --last=<last>',
  'board.backup': 'board backup',
  'board.import': 'import <text>',
  'queue.list': 'queue --target=<target>',
  'task.merge': 'merge <tasks> --head=<head> --now?now',
  'queue.front': 'queue front <tasks> --dry-run?dryRun',
  'queue.cancel': 'queue cancel <tasks> --reason=<reason> --dry-run?dryRun',
  'queue.pause': 'queue pause --land?land --accept?accept --reason=<reason> --target=<target>',
  'queue.resume': 'queue resume --land?land --accept?accept --target=<target>',
  'queue.retry': 'queue retry <tasks>',
  'radar.show': 'radar <task>',
  'review.list': 'review',
  'review.show': 'review <task>',
  'review.approve': 'review <task> --approve --head=<head>',
  'review.send_back': 'review <task> --send-back=<comment> --command=<command>',
};

export function lineOf(name: OperationName): string | undefined {
  const line = commandLines[name];
  return typeof line === 'string' ? line : undefined;
}

/** The fields that a line asks for, in its order. */
export function fieldsOf(line: string): readonly string[] {
  return Array.from(line.matchAll(/<(\w+)|\?(\w+)/g), ([, word, flag]) => word ?? flag ?? '');
}

/** What the palette shows before anything is filled in: `copse pause <task>`. */
export function usageOf(line: string): string {
  const words = line.split(' ').filter((word) => !/^--(\w|-)+[=?]|^--</.test(word));
  return `copse ${words.join(' ').replaceAll(/:[^>]*>/g, '>')}`;
}

type Fields = Readonly<Record<string, unknown>>;

/** With `…` where something that is needed is missing. */
export function commandLine(line: string, given: Fields, needed: readonly string[] = []): string {
  const input = { ...given };
  for (const field of needed) input[field] ??= '…';
  return ['copse', ...line.split(' ').flatMap((word) => wordsOf(word, input))].join(' ');
}

function wordsOf(word: string, input: Fields): readonly string[] {
  const flag = /^(--[\w-]+)\?(\w+)$/.exec(word);
  if (flag) return input[flag[2] ?? ''] === true ? [flag[1] ?? ''] : [];
  const value = /^(--[\w-]+=|--)?<(\w+)(?::(\w+)\|(\w+))?>$/.exec(word);
  if (!value) return [word];
  const [, option = '', field = '', yes = '', no = ''] = value;
  const texts = textsOf(field, input[field], yes, no);
  if (option === '--') return texts.map((text) => `--${text}`);
  return texts.flatMap((text) => (option === '' ? [text] : [option.slice(0, -1), text]));
}

function textsOf(field: string, value: unknown, yes: string, no: string): readonly string[] {
  if (value === undefined || value === null || value === '') return [];
  if (Array.isArray(value)) return value.map((one) => shellWord(String(one)));
  if (typeof value === 'boolean') return [value ? yes : no];
  if (value === '…') return ['…'];
  if (typeof value === 'number')
    return [field.endsWith('Ms') ? `${Math.round(value / 1_000)}s` : String(value)];
  return [shellWord(typeof value === 'string' ? value : JSON.stringify(value))];
}
