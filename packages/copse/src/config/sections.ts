/**
 * Builds a section of `copse.yml` from its keys: `section` fills in the defaults; `overrides`, for agents, leaves missing
 * keys out.
 */
import * as z from 'zod';

type Keys = Readonly<Record<string, z.ZodType>>;
type Defaults<K extends Keys> = { readonly [N in keyof K]?: z.input<K[N]> };
type Filled<K extends Keys, D> = {
  [N in keyof K]: N extends keyof D ? z.ZodPrefault<K[N]> : z.ZodOptional<K[N]>;
};

/** Unknown keys are errors; a key without a default may be left out. */
export function section<K extends Keys, const D extends Defaults<K>>(keys: K, defaults: D) {
  const filled = Object.entries(keys).map(([key, type]) => [
    key,
    key in defaults ? type.prefault(defaults[key]) : type.optional(),
  ]);
  return z.strictObject(Object.fromEntries(filled) as Filled<K, D>);
}

export function overrides<K extends Keys>(keys: K) {
  return z.strictObject(keys).partial();
}
