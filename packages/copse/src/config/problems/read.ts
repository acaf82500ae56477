/**
 * Parses YAML into plain values, with the position of every key and value.
 *
 * - Problems never quote the text of the file: it may hold a password.
 * - A key with nothing after it counts as not written, so a section whose lines are all commented out is no error.
 * - Anchors, aliases and merge keys (`<<`) are followed; a problem inside an alias is placed where it can be fixed.
 * - No file can make this throw or run for long: nesting and the number of values are limited.
 */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type YAMLMap,
} from 'yaml';

import { defaultPolicy } from '../../kernel/policy.ts';

export type Path = readonly (string | number)[];

export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

interface Misreading extends TextPosition {
  readonly path: Path;
  readonly message: string;
}

export interface Reading {
  /** `undefined` for an empty file. */
  readonly value: unknown;
  readonly misreadings: readonly Misreading[];
  readonly placeOfKey: (path: Path) => TextPosition;
  readonly placeOfValue: (path: Path) => TextPosition;
}

const START: TextPosition = { line: 1, column: 1 };
const MAX_VALUES = defaultPolicy.configFile.values;
const MAX_DEPTH = defaultPolicy.configFile.depth;

export function readYaml(text: string): Reading {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const lines = new LineCounter();
  const placeAt = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset);
    return line === 0 ? START : { line, column: col };
  };

  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    const misreadings = faults
      .map(({ code, message, pos }): Misreading => {
        const { line, column } = placeAt(pos[0]);
        return { path: [], message: explainFault(code, message), line, column };
      })
      // After the first fault of a line, the parser reports what follows from it.
      .filter(({ line }, at, all) => all.findIndex((one) => one.line === line) === at);
    return { value: undefined, misreadings, placeOfKey: () => START, placeOfValue: () => START };
  }
  return new YamlReader(document, placeAt).read();
}

class YamlReader {
  readonly #document: Document;
  readonly #placeAt: (offset: number) => TextPosition;
  readonly #keys = new Map<string, TextPosition>();
  readonly #values = new Map<string, TextPosition>();
  readonly #misreadings: Misreading[] = [];
  #count = 0;

  constructor(document: Document, placeAt: (offset: number) => TextPosition) {
    this.#document = document;
    this.#placeAt = placeAt;
  }

  read(): Reading {
    const value = this.#convert(this.#document.contents, [], START);
    const nearestPlace = (places: ReadonlyMap<string, TextPosition>, path: Path): TextPosition =>
      places.get(JSON.stringify(path)) ??
      this.#values.get(JSON.stringify(path)) ??
      (path.length === 0 ? START : nearestPlace(this.#keys, path.slice(0, -1)));
    return {
      value,
      misreadings: this.#misreadings,
      placeOfKey: (path) => nearestPlace(this.#keys, path),
      placeOfValue: (path) => nearestPlace(this.#values, path),
    };
  }

  #convert(node: unknown, path: Path, around: TextPosition, seen: readonly unknown[] = []): unknown {
    const place = this.#placeOf(node) ?? around;
    if (node !== null) this.#values.set(JSON.stringify(path), place);
    this.#count += 1;
    if (this.#count > MAX_VALUES) {
      // Reported once.
      if (this.#count === MAX_VALUES + 1)
        this.#report([], place, 'the aliases of the file expand to too much');
      return undefined;
    }
    if (seen.length > MAX_DEPTH) return this.#report([], place, 'the file is nested too deeply');
    if (isAlias(node)) {
      const target = node.resolve(this.#document);
      if (target === undefined) return this.#report(path, place, 'has an alias without an anchor before it');
      if (seen.includes(target)) return this.#report(path, place, 'has an alias that contains itself');
      const value = this.#convert(target, path, place, seen);
      this.#values.set(JSON.stringify(path), place);
      return value;
    }
    if (isMap(node)) return this.#fill({}, node, path, place, [...seen, node]);
    if (isSeq(node)) {
      return node.items.map(
        (item, index) => this.#convert(item, [...path, index], place, [...seen, node]) ?? null,
      );
    }
    return isScalar(node) ? (node.value ?? undefined) : undefined;
  }

  /** Keys written in the mapping itself win over merged ones, and earlier merges over later ones. */
  #fill(
    result: Record<string, unknown>,
    map: YAMLMap,
    path: Path,
    around: TextPosition,
    seen: readonly unknown[],
  ): Record<string, unknown> {
    const merges: unknown[] = [];
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? String(key.value) : '';
      const place = this.#placeOf(key) ?? around;
      if (name === '<<') {
        merges.push(...(isSeq(value) ? value.items : [value]));
      } else if (name === '__proto__') {
        this.#report([...path, name], place, 'is not a known key');
      } else if (!Object.hasOwn(result, name)) {
        this.#keys.set(JSON.stringify([...path, name]), place);
        result[name] = this.#convert(value, [...path, name], place, seen);
      }
    }
    for (const merge of merges) this.#merge(result, merge, path, around, seen);
    return result;
  }

  #merge(
    result: Record<string, unknown>,
    node: unknown,
    path: Path,
    around: TextPosition,
    seen: readonly unknown[],
  ): void {
    const place = this.#placeOf(node) ?? around;
    const target = isAlias(node) ? node.resolve(this.#document) : node;
    if (target === undefined) this.#report(path, place, 'has an alias without an anchor before it');
    else if (!isMap(target)) this.#report(path, place, 'merges something that is not a mapping');
    else if (seen.includes(target)) this.#report(path, place, 'has an alias that contains itself');
    else if (seen.length <= MAX_DEPTH) this.#fill(result, target, path, place, [...seen, target]);
  }

  #placeOf(node: unknown): TextPosition | undefined {
    const range = isAlias(node) || isScalar(node) || isMap(node) || isSeq(node) ? node.range : undefined;
    return range == null ? undefined : this.#placeAt(range[0]);
  }

  #report(path: Path, place: TextPosition, message: string): undefined {
    this.#misreadings.push({ path, message, ...place });
  }
}

function explainFault(code: string, message: string): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'this key is already written above in the same mapping';
    case 'TAB_AS_INDENT':
      return 'a tab cannot indent YAML: use spaces';
    case 'MULTIPLE_DOCS':
      return 'a second document begins here: keep one, without ---';
    case 'TAG_RESOLVE_FAILED':
      return 'a tag has no meaning here: remove the word that begins with !';
    case 'RESOURCE_EXHAUSTION':
      return 'the file is nested too deeply';
    case 'NON_STRING_KEY':
      return 'a key must be plain text';
    case 'BLOCK_AS_IMPLICIT_KEY':
      if (/block sequence/i.test(message))
        return 'a list item (-) cannot follow keys: write keys only, or list items only';
      return 'a mapping cannot begin here: put it on a line of its own, or put text that contains ": " in quotes';
    case 'BAD_INDENT':
    case 'MISSING_CHAR': {
      const open = unclosed(message);
      if (open !== null) return open;
      return `this is not valid YAML: ${withoutQuotations(message)}`;
    }
    default:
      return `this is not valid YAML: ${withoutQuotations(message)}`;
  }
}

/** The parser calls lists in [ ] and mappings in { } flow collections. */
function unclosed(message: string): string | null {
  if (/flow sequence.*end with a \]/i.test(message)) return 'a list that begins with [ is not closed with ]';
  if (/flow map.*end with a \}/i.test(message)) return 'a mapping that begins with { is not closed with }';
  return null;
}

/** The parser's message without quotations of the file. */
function withoutQuotations(message: string): string {
  const sentence = message.replace(/:? "(?:[^"\\]|\\.)*"|:.*$/gs, '').trim();
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
