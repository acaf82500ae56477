/** Suggests what was meant by an unknown key or word. */
import {
  alternatives,
  alternativesFor,
  child,
  configJsonSchema,
  valueOf,
  type SchemaNode,
} from './describe.ts';
import { nearest } from './nearest.ts';
import type { Path } from './read.ts';

/** In a path, a word that the user chooses. */
const ANY_NAME = '<name>';

export function suggestValue(written: unknown, allowed: readonly string[]): string | undefined {
  const near = typeof written === 'string' ? nearest(written, allowed) : undefined;
  return near === undefined ? undefined : `Did you mean ${near}?`;
}

export function suggestKey(container: Path, key: string, root: unknown): string | undefined {
  const near = nearest(key, knownKeys(container, root));
  if (near !== undefined) return `Did you mean ${near}?`;
  const variant = otherVariant(container, key, root);
  if (variant !== undefined) return `It goes with ${variant}.`;
  const places = placesOf(key, container);
  if (places.length === 0 || places.length > 3) return undefined;
  return `It belongs ${places.map((place) => (place === '' ? 'at the top level' : `under ${place}`)).join(' or ')}.`;
}

/** The schema nodes at a path, and the value written there. */
function nodesAt(
  path: Path,
  root: unknown,
): { readonly nodes: readonly SchemaNode[]; readonly written: unknown } {
  let nodes: readonly SchemaNode[] = [configJsonSchema()];
  let written = root;
  for (const key of path) {
    nodes = nodes.flatMap((node) => alternativesFor(node, written)).flatMap((node) => child(node, key) ?? []);
    written = valueOf(written, key);
  }
  return { nodes, written };
}

function knownKeys(container: Path, root: unknown): readonly string[] {
  const { nodes, written } = nodesAt(container, root);
  return nodes
    .flatMap((node) => alternativesFor(node, written))
    .flatMap((node) => Object.keys(node.properties ?? {}));
}

/** The fixed value, such as `type: interval`, with which the mapping would have the key. */
function otherVariant(container: Path, key: string, root: unknown): string | undefined {
  const variant = nodesAt(container, root)
    .nodes.flatMap(alternatives)
    .find(({ properties = {} }) => Object.hasOwn(properties, key));
  const fixed = Object.entries(variant?.properties ?? {}).find(
    ([, property]) => property.const !== undefined,
  );
  return fixed === undefined ? undefined : `${fixed[0]}: ${String(fixed[1].const)}`;
}

/** Where a key is known, nearest first: below the place it was written, else anywhere. */
function placesOf(key: string, container: Path): readonly string[] {
  const all = containersOf(key, configJsonSchema(), []).map((place) => concrete(place, container));
  const below = all.filter((place) => container.every((part, index) => place[index] === part));
  return [...new Set((below.length > 0 ? below : all).map((place) => place.join('.')))];
}

function containersOf(
  key: string,
  node: SchemaNode,
  path: readonly string[],
): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  for (const { properties = {}, additionalProperties } of alternatives(node)) {
    if (Object.hasOwn(properties, key)) found.push(path);
    for (const [name, property] of Object.entries(properties)) {
      found.push(...containersOf(key, property, [...path, name]));
    }
    if (additionalProperties) found.push(...containersOf(key, additionalProperties, [...path, ANY_NAME]));
  }
  return found;
}

/** The names the user chose, as far as the place is on the way to where the key was written. */
function concrete(place: readonly string[], written: Path): readonly string[] {
  const apart = place.findIndex((part, index) => part !== ANY_NAME && part !== written[index]);
  const shared = apart === -1 ? place.length : apart;
  return place.map((part, index) =>
    index < shared && written[index] !== undefined ? String(written[index]) : part,
  );
}
