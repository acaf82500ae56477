/** The most urgent ready task that an agent may take: `canTake` of tasks/rules/capabilities.ts in SQL. */

import { sql } from 'kysely';

import type { ReadyQuery } from '../port.ts';
import { metCapabilities } from '../../tasks/rules/capabilities.ts';
import type { Statement, Statements, Values } from './statements.ts';

export function nextReadyStatement(
  statements: Statements,
  { at, agent, node }: ReadyQuery,
  locksRows: boolean,
): { readonly statement: Statement; readonly values: Values } {
  const met = metCapabilities(agent.capabilities);
  const names = met.map((_, index) => `met${index}`);
  const statement = statements.get(`next ready ${met.length}`, (db, value) =>
    db
      .selectFrom('tasks')
      .select(['id', 'data', 'body'])
      // A literal, not a parameter: otherwise SQLite does not use the partial index.
      .where('status', '=', sql.lit('ready'))
      .where('not_before', '<=', value('at'))
      .where((task) => task.or([task('agent', 'is', null), task('agent', '=', value('agent'))]))
      .where((task) => task.or([task('move_to', 'is', null), task('move_to', '=', value('node'))]))
      // Counted, because PostgreSQL may turn `not exists` into a join over all ready tasks.
      .where(
        (task) =>
          task
            .selectFrom('requirements')
            .select((row) => row.fn.countAll().as('missing'))
            .whereRef('requirements.task', '=', 'tasks.id')
            .$if(names.length > 0, (missing) =>
              missing.where(
                'requirements.capability',
                'not in',
                names.map((name) => value(name)),
              ),
            ),
        '=',
        sql.lit(0),
      )
      .orderBy('priority', 'desc')
      .orderBy('created_at')
      .orderBy('id')
      .limit(sql.lit(1))
      .$if(locksRows, (tasks) => tasks.forUpdate('tasks').skipLocked()),
  );
  const values = Object.fromEntries(met.map((capability, index) => [`met${index}`, capability]));
  return { statement, values: { ...values, at, node, agent: agent.name } };
}
