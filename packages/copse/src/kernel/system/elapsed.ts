/** Milliseconds of a clock that no one sets. `performance.now()` makes Node load a module, which takes a command 1 ms. */
export function elapsedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
