import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import type { LedgerEntry } from '../../tasks/rules/ledger.ts';
import type { Access } from '../access.ts';
import { requireTaskOrHere } from '../task-here.ts';
import { ledgerView } from '../views/views.ts';

interface Input {
  readonly task?: string | undefined;
}

interface TaskLedger {
  readonly task: TaskId;
  readonly entries: readonly LedgerEntry[];
  readonly at: Timestamp;
}

export async function act(access: Access, input: Input): Promise<TaskLedger> {
  return access.board(async ({ board, clock }) => {
    const task = await requireTaskOrHere(board, access, input.task);
    return { task, entries: await board.list('ledger', { task }), at: clock.now() };
  });
}

export function view({ entries }: TaskLedger) {
  return { entries: entries.map(ledgerView) };
}
