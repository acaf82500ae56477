/** Adds entries to the ledger of a task. */

import { decided } from '../../kernel/decision.ts';
import { type LedgerEntryId, type TaskId, brand, drawId } from '../../kernel/ids.ts';
import {
  type LedgerEntry,
  type LedgerEvent,
  ledgerKinds,
  refuseFullLedger,
  refuseLongEntry,
} from '../rules/ledger.ts';
import { checkBody } from '../../kernel/text.ts';
import { type Context, type Outcome, change } from '../../board/context.ts';
import { invalid } from './definition.ts';
import { refuseForeignTask } from './own-task.ts';

export interface LedgerInput {
  readonly kind: string;
  readonly text: string;
}

export async function addLedgerEntry(
  context: Context,
  task: TaskId,
  input: LedgerInput,
): Promise<Outcome<LedgerEntry>> {
  const kind = ledgerKinds.find((known) => known === input.kind);
  if (kind === undefined) {
    return invalid(
      `The kind must be one of ${ledgerKinds.join(', ')}, not "${input.kind}".`,
      'copse ledger add learning "…"',
    );
  }
  const text = checkBody(input.text);
  if (text.kind === 'refused') return invalid(text.reason, 'copse ledger add --help');
  if (text.body.trim() === '') {
    return invalid('A ledger entry cannot be empty.', 'copse ledger add learning "…"');
  }
  const session = context.by.kind === 'session' ? context.by.session : null;
  const long = session === null ? undefined : refuseLongEntry(text.body);
  if (long !== undefined) return invalid(long, 'copse artifact add --help');
  const foreign = await refuseForeignTask(context, task);
  if (foreign) return foreign;
  return change(context, async (change) => {
    await change.requireMine(task);
    const full = session === null ? undefined : refuseFullLedger(await change.board.list('ledger', { task }));
    if (full !== undefined) change.refuse(invalid(full, 'copse artifact add --help'));
    const id = brand<LedgerEntryId>(drawId('le-', context.random));
    const entry = { id, task, session, kind, text: text.body, at: change.at };
    await change.apply(decided<LedgerEvent>({ type: 'ledger.added', ...entry }));
    return entry;
  });
}
