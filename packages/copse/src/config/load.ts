/** Reads copse.yml by its shape where that is enough, and by its schema otherwise: only the schema says what is wrong. */

import { Unavailable } from '../kernel/unavailable.ts';
import type { Config } from './schema.ts';
import { readByShape, readDefaults } from './shape/shape.ts';

/** Throws with every problem of the text. `value`: what the text says, if that is known. */
export async function loadConfig(text: string, value?: unknown): Promise<Config> {
  const known = value === undefined ? undefined : readByShape(value);
  return known ?? (await loadByShape(text)) ?? loadBySchema(text);
}

/** What the text says, to be kept as JSON; undefined when JSON cannot hold it in little more room, or the text is not right. */
export async function configValue(text: string): Promise<unknown> {
  const { readYaml } = await import('./problems/read.ts');
  const { value, misreadings } = readYaml(text);
  if (misreadings.length > 0 || value === undefined) return undefined;
  return isJson(value) && JSON.stringify(value).length <= 2 * text.length + ROOM ? value : undefined;
}

/** JSON repeats each alias of YAML in full, and needs more quotes and brackets. */
const ROOM = 1_024;

/** A key without a value is undefined, and YAML has numbers without an end. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null)
    return value === null || ['string', 'boolean'].includes(typeof value);
  return Object.values(value).every(isJson);
}

/** From values that are known to be right. */
export async function configFrom(written: object): Promise<Config> {
  const read = readByShape(written);
  if (read !== undefined) return read;
  const { configSchema } = await import('./schema.ts');
  return configSchema.parse(written);
}

async function loadByShape(text: string): Promise<Config | undefined> {
  if (text.trim() === '') return readDefaults() ?? readByShape({});
  const { readYaml } = await import('./problems/read.ts');
  const { value, misreadings } = readYaml(text);
  return misreadings.length > 0 ? undefined : readByShape(value ?? {});
}

async function loadBySchema(text: string): Promise<Config> {
  const { parseConfig } = await import('./parse.ts');
  const parsed = parseConfig(text, { file: 'copse.yml' });
  if (parsed.kind === 'valid') return parsed.config;
  const { renderProblem } = await import('./problems/problems.ts');
  throw new Unavailable(
    parsed.problems.map(renderProblem).join('\n'),
    'copse config check # after you correct it',
  );
}

/** Whether two texts of copse.yml say the same: comments and layout do not count, the order of keys does. */
export async function isSameConfig(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  const { readYaml } = await import('./problems/read.ts');
  const [before, now] = [readYaml(one), readYaml(other)];
  if (before.misreadings.length + now.misreadings.length > 0) return false;
  return JSON.stringify(before.value ?? {}) === JSON.stringify(now.value ?? {});
}
