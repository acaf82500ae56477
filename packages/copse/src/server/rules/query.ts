/**
 * Fields that come as text, in a path or a query. The type of the field says how the text is read: a number from digits, true and
 * false from these words, a list from its parts between commas. Any other text stays text, and the shape decides about it.
 */

export interface FieldType {
  readonly type?: string | readonly string[];
  readonly items?: FieldType;
  readonly anyOf?: readonly FieldType[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  /** A named type of the document, `#/$defs/Name`. */
  readonly $ref?: string;
}

export type NamedTypes = Readonly<Record<string, FieldType>>;

export function valueOf(text: string, field: FieldType, named: NamedTypes = {}): unknown {
  const types = typesOf(field, named);
  const list = types.find(({ type }) => type === 'array');
  if (list !== undefined)
    return text === '' ? [] : text.split(',').map((part) => valueOf(part, list.items, named));
  const has = (...names: readonly string[]) => types.some(({ type }) => names.includes(type));
  if (has('number', 'integer') && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  if (has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

interface OneType {
  readonly type: string;
  readonly items: FieldType;
}

function typesOf(field: FieldType, named: NamedTypes): readonly OneType[] {
  const { type, items = {}, anyOf = [], enum: values = [], const: value, $ref } = field;
  const referred = $ref === undefined ? undefined : named[$ref.replace('#/$defs/', '')];
  if (referred !== undefined) return typesOf(referred, named);
  const names = type ?? [...values, ...(value === undefined ? [] : [value])].map((one) => typeof one);
  const own = (typeof names === 'string' ? [names] : names).map((one) => ({ type: one, items }));
  return [...own, ...anyOf.flatMap((one) => typesOf(one, named))];
}
