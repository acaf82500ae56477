/** For the `default` of a switch over a union: the compiler proves it is never reached. */
export function unreachable(value: never): never {
  throw new Error(`This case does not exist: ${JSON.stringify(value)}`);
}
