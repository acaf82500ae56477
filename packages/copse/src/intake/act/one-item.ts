/** A person takes one item of a source, with or without its label: `copse add --item github#12`. */

import { type Refused, refused } from '../../kernel/decision.ts';
import type { Outcome } from '../../board/context.ts';
import { LeadSilence } from '../../queue/lead/leadership.ts';
import type { RunContext } from '../../queue/context.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';
import type { Source } from '../port.ts';
import { holdSource } from './hold.ts';
import { takeItem } from './take-item.ts';

export async function addItem(context: RunContext, text: string): Promise<Outcome<TaskSummary>> {
  const [, name = '', id = ''] = /^([^#]+)#(.+)$/s.exec(text) ?? [];
  if (id === '')
    return refused(
      'invalid',
      `${JSON.stringify(text)} is not a work item: name its source and its id, for example github#12.`,
      'copse sources list',
    );
  const source = sourceNamed(context, name);
  if ('kind' in source) return source;
  const held = await holdSource(
    context,
    name,
    async () => {
      const read = await source.readOne(id);
      if (read.kind === 'failed') return refused('wrong_status', read.reason, `copse sources show ${name}`);
      if (read.item === undefined)
        return refused(
          'not_found',
          `${name} has no work item ${id}.`,
          `copse sources sync ${name} --dry-run`,
        );
      const by = context.by.kind === 'person' ? context.by.name : null;
      return takeItem(context, source, read.item, { by, adopts: false });
    },
    { silence: new LeadSilence(), patienceMs: context.policy.sources.patienceMs },
  );
  return held.kind === 'held' ? held.value : busy(name);
}

export function sourceNamed({ sources }: Pick<RunContext, 'sources'>, name: string): Source | Refused {
  const found = sources.find((source) => source.name === name);
  if (found !== undefined) return found;
  const known = sources.map((source) => source.name).join(', ');
  const reason =
    known === '' ? `copse.yml has no source ${name}.` : `copse.yml has no source ${name}; it has ${known}.`;
  return refused('not_found', reason, 'copse sources list');
}

export function busy(name: string): Refused {
  return refused(
    'too_early',
    `An orchestrator is looking at the source ${name}.`,
    `copse sources show ${name} # to see when it has finished`,
  );
}
