export interface RemovedCheck {
  readonly check: string;
  /** In packages/copse/src. */
  readonly edits: readonly { readonly file: string; readonly find: string; readonly put: string }[];
  /** The names of the tests that fail then, or how these names begin. */
  readonly attacks: readonly string[];
  /** In test/server; `faults/entry` unless it is named. */
  readonly tests?: readonly string[];
  /** Its attacks wait for real agents. */
  readonly isWithAgents?: true;
}
