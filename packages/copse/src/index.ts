/** The library: what integrators may build on. Everything else is free to change. */

export type { Copse, CopseEvent, CopseOptions, EventsOptions } from './library/copse.ts';
export { CopseError } from './library/copse-error.ts';
export { open } from './library/open.ts';
export type { Operations } from './library/operations.ts';
