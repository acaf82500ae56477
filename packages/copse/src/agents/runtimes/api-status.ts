/** Whether the same question may be answered later: the server's own trouble, a time-out, two at once. */
export function passesByWaiting(status: number): boolean {
  return status >= 500 || status === 408 || status === 409;
}
