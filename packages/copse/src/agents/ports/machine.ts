/** What the machine has left. */
export interface Machine {
  /** Null when the system does not say. */
  freeMemoryBytes(): number | null;
}
