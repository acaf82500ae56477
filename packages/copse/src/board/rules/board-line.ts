import type { Lease } from '../../tasks/rules/claim.ts';
import type { AnyRecord, RecordedEvent, RecordKind } from './event.ts';

/** One line of an export: first the board, then its records and leases, then every event. */
export type BoardLine =
  | {
      readonly line: 'board';
      readonly format: 1;
      readonly version: number;
      readonly id: string;
      readonly events: number;
    }
  | { readonly line: 'record'; readonly kind: RecordKind; readonly record: AnyRecord }
  | { readonly line: 'lease'; readonly lease: Lease }
  | { readonly line: 'event'; readonly recorded: RecordedEvent };
