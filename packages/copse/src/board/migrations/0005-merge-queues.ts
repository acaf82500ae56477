/** Queues get records, and a move of a target may land several tasks; older landings landed one by one. */

import type { Kysely } from 'kysely';

import type { BoardTables, ColumnTypes } from '../sql/schema.ts';

interface OldLanding {
  readonly isHotfix?: boolean;
  readonly isUnchecked?: boolean;
  readonly state: {
    readonly status: string;
    readonly intent?: { readonly newTip: string } | null;
  };
}

export async function up(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('queues')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('data', text, (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  const landings = db as Kysely<Pick<BoardTables, 'landings'>>;
  for (const { id, data } of await landings.selectFrom('landings').select(['id', 'data']).execute()) {
    const landing = JSON.parse(data) as OldLanding;
    const filled = JSON.stringify({
      isHotfix: false,
      isUnchecked: false,
      ...landing,
      state: stateOf(landing),
    });
    await landings.updateTable('landings').set({ data: filled }).where('id', '=', id).execute();
  }
}

function stateOf({ state }: OldLanding): OldLanding['state'] {
  if (state.status === 'landed') return { isVerified: false, ...state } as OldLanding['state'];
  if (!state.intent) return state;
  return { ...state, intent: { commit: state.intent.newTip, isVerified: false, ...state.intent } as never };
}
