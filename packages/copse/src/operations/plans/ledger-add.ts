import { addLedgerEntry } from '../../tasks/act/ledger.ts';
import type { LedgerEntry } from '../../tasks/rules/ledger.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { requireTaskOrHere } from '../task-here.ts';
import { ledgerView } from '../views/views.ts';

interface Input {
  readonly task?: string | undefined;
  readonly kind: string;
  readonly text: string;
}

export async function act(access: Access, { task, kind, text }: Input): Promise<LedgerEntry> {
  return access.board(async (context) => {
    const id = await requireTaskOrHere(context.board, access, task);
    return orFail(await addLedgerEntry(context, id, { kind, text }));
  });
}

export function view(entry: LedgerEntry) {
  return ledgerView(entry);
}
