/** What something costs that a person does to a queue. */

export function effectText(restarts: number): string {
  if (restarts === 0) return 'No check that is running starts over.';
  return restarts === 1
    ? '1 check that is running starts over.'
    : `${restarts} checks that are running start over.`;
}
