import { withAccess } from '../../../compose/operations/access.ts';
import { spanText } from '../../../kernel/time.ts';
import { shown } from '../../../kernel/text.ts';
import { megabytesText } from '../../../explain/rules/amounts.ts';
import type { NodeFacts } from '../../../machines/rules/node.ts';
import { act, view } from '../../../operations/nodes/show.ts';
import type { Invocation } from '../../invocation.ts';
import { stateText } from './list.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const known = await act(access, { node: words[0] ?? '' });
    if (options.json) return cli.output.json(view(known));
    const { node, silentMs, held, at } = known;
    const isIdle = node.id === access.here.node() && !(await access.here.isOrchestrated());
    const policy = await access.board(async (context) => context.policy.nodes);
    const rows: readonly (readonly [string, string | null])[] = [
      ['node', `${node.name} (${node.id})`],
      ['state', stateText(known, { at, policy, isIdle })],
      ['last contact', silentMs === null ? 'never' : `${spanText(silentMs)} ago`],
      ['tasks', held.length === 0 ? 'none' : held.map(({ id }) => id).join(', ')],
      ...(node.facts === null ? [] : factRows(node.facts)),
      ['clock', node.clockOffsetMs === null ? null : offsetText(node.clockOffsetMs)],
      ['joined', `${spanText(Math.max(1_000, at - node.joinedAt))} ago`],
    ];
    for (const [name, text] of rows)
      if (text !== null) cli.output.line(`${cli.output.style('dim', name.padEnd(12))} ${shown(text)}`);
  });
}

function factRows({ version, protocol, labels, capabilities, slots }: NodeFacts) {
  const { agents, programs, platform, cpus, memoryBytes, isContainer } = capabilities;
  const list = (words: readonly string[]) => (words.length === 0 ? 'none' : words.join(', '));
  const { oldest, newest } = protocol;
  return [
    ['slots', String(slots)],
    ['labels', list(labels)],
    ['agents', list(agents.map(({ name }) => name))],
    ['programs', list(programs)],
    [
      'machine',
      `${platform.join(' ')}, ${cpus} cpus, ${megabytesText(memoryBytes)} of memory${isContainer ? ', in a container' : ''}`,
    ],
    ['copse', `${version}, board ${oldest === newest ? newest : `${oldest} to ${newest}`}`],
  ] as const;
}

/** For people: which clock is ahead. */
export function offsetText(offsetMs: number): string {
  if (Math.abs(offsetMs) < 1_000) return 'agrees with the board’s server';
  return `${spanText(Math.abs(offsetMs))} ${offsetMs > 0 ? 'behind' : 'ahead of'} the board’s server (only shown)`;
}
