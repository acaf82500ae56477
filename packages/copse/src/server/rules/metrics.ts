/** What /metrics says, in the text format of Prometheus. */

import { type TaskStatus, taskStatuses } from '../../tasks/rules/task.ts';

export interface Measured {
  readonly byStatus: ReadonlyMap<TaskStatus, number>;
  readonly queued: number;
  /** Since the server started, as all counters here. */
  readonly landed: number;
  readonly crashed: number;
  readonly eventNumber: number;
  readonly connections: number;
  readonly streams: number;
  readonly droppedSlow: number;
  readonly refused: number;
  readonly operations: OperationCounts;
}

/** How often each operation was called, by the status of the answer. */
export class OperationCounts {
  readonly #counts = new Map<string, number>();

  add(operation: string, status: number): void {
    const labels = `operation="${operation}",status="${status}"`;
    this.#counts.set(labels, (this.#counts.get(labels) ?? 0) + 1);
  }

  get lines(): readonly string[] {
    return Array.from(this.#counts, ([labels, count]) => `copse_operations_total{${labels}} ${count}`);
  }
}

export function metricsText(measured: Measured): string {
  const lines = [
    ...metric('copse_tasks', 'gauge', 'Tasks by status.', []),
    ...taskStatuses.map((status) => `copse_tasks{status="${status}"} ${measured.byStatus.get(status) ?? 0}`),
    ...metric('copse_queue_length', 'gauge', 'Landings that have not ended.', [measured.queued]),
    ...metric('copse_landings_total', 'counter', 'Landed tasks since the server started.', [measured.landed]),
    ...metric('copse_crashes_total', 'counter', 'Crashed attempts since the server started.', [
      measured.crashed,
    ]),
    ...metric('copse_event_number', 'gauge', 'The number of the last event.', [measured.eventNumber]),
    ...metric('copse_connections', 'gauge', 'Open connections.', [measured.connections]),
    ...metric('copse_streams', 'gauge', 'Clients that follow events.', [measured.streams]),
    ...metric(
      'copse_slow_clients_total',
      'counter',
      'Streams that were closed because the client was slow.',
      [measured.droppedSlow],
    ),
    ...metric('copse_refused_requests_total', 'counter', 'Requests that were answered with 401.', [
      measured.refused,
    ]),
    ...metric(
      'copse_operations_total',
      'counter',
      'Requests for operations, by the status of the answer.',
      [],
    ),
    ...measured.operations.lines,
  ];
  return `${lines.join('\n')}\n`;
}

function metric(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  values: readonly number[],
): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...values.map((value) => `${name} ${value}`)];
}
