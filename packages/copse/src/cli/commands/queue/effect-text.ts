/** How many running checks a change of the queue restarts. */

export function effectText(restarts: number): string {
  if (restarts === 0) return 'No running check restarts.';
  return restarts === 1 ? '1 running check restarts.' : `${restarts} running checks restart.`;
}
