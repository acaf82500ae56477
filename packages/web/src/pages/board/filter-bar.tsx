/** Text, status, agent, plan, and how the tasks are laid out. */

import type { RefObject } from 'react';

import { shown } from '../../../../copse/src/kernel/text.ts';
import { taskStatuses } from '../../../../copse/src/tasks/rules/task.ts';
import { withCommand } from '../../parts/command-line.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { statusWord } from '../../parts/status-word.ts';
import { useRecords } from '../../store/hooks.tsx';
import styles from './board.module.css';
import type { Filters } from './filters.ts';

interface FilterBarProps {
  readonly filters: Filters;
  readonly onChange: (changes: Partial<Filters>) => void;
  readonly agents: readonly string[];
  readonly search: RefObject<HTMLInputElement | null>;
  readonly onAdd: () => void;
}

export function FilterBar({ filters, onChange, agents, search, onAdd }: FilterBarProps) {
  const plans = useRecords('plan');
  const { text, status, agent, plan, view } = filters;
  return (
    <PageHead title="Board" className={styles.head}>
      <input
        ref={search}
        type="search"
        aria-label="Id or title"
        placeholder="Id or title  /"
        value={text}
        onChange={(event) => onChange({ text: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <select
        aria-label="Status"
        value={status}
        onChange={(event) => onChange({ status: event.target.value as Filters['status'] })}
      >
        <option value="">Status</option>
        {taskStatuses.map((one) => (
          <option key={one} value={one}>
            {statusWord(one)}
          </option>
        ))}
      </select>
      <select aria-label="Agent" value={agent} onChange={(event) => onChange({ agent: event.target.value })}>
        <option value="">Agent</option>
        {[...new Set([...agents, ...(agent === '' ? [] : [agent])])].map((one) => (
          <option key={one} value={one}>
            {shown(one)}
          </option>
        ))}
      </select>
      <select
        aria-label="Plan"
        value={plan}
        disabled={plans.size === 0}
        onChange={(event) => onChange({ plan: event.target.value })}
      >
        <option value="">Plan</option>
        {[...plans.values()].map(({ id, title }) => (
          <option key={id} value={id}>
            {shown(title)}
          </option>
        ))}
      </select>
      <button
        type="button"
        aria-pressed={view === 'list'}
        onClick={() => onChange({ view: view === 'list' ? 'columns' : 'list' })}
      >
        {view === 'list' ? 'Columns' : 'List'}
      </button>
      <button type="button" className={styles.main} {...withCommand('copse add "…"')} onClick={onAdd}>
        Add a task
      </button>
    </PageHead>
  );
}
