/**
 * The input of a request. Path fields are text. GET and DELETE have the other fields in the query, POST and PATCH in a JSON body.
 * A field comes from one place only, and a field that the operation does not know is refused.
 */

import { sizeText } from '../../explain/rules/amounts.ts';
import type { Policy } from '../../kernel/policy.ts';
import type { Operation } from '../../operations/operation.ts';
import { jsonSchemaOf } from '../../operations/shapes/json-schema.ts';
import { type HttpAnswer, problemAnswer } from '../answer.ts';
import { readBody } from '../body.ts';
import type { Call } from '../routes.ts';
import { problem } from '../rules/problem.ts';
import { type NamedTypes, valueOf } from '../rules/query.ts';
import { unfitField, wrongInputText } from '../../operations/wrong-input.ts';

export type InputRead =
  | { readonly kind: 'read'; readonly input: unknown }
  | { readonly kind: 'refused'; readonly answer: HttpAnswer };

interface InputSchema {
  readonly properties?: NamedTypes;
  readonly $defs?: NamedTypes;
}

type InputFields = Readonly<Record<string, unknown>>;

export async function readInput(
  operation: Operation,
  call: Call,
  limits: Pick<Policy['server'], 'bodyBytes' | 'largeBodyBytes'>,
): Promise<InputRead> {
  const { input: shape } = await operation.shape();
  const { properties = {}, $defs = {} } = jsonSchemaOf(shape) as InputSchema;
  const { method } = operation.http;
  const isInQuery = method === 'GET' || method === 'DELETE';
  const query = Object.fromEntries(call.target.query);
  const [misplaced] = isInQuery ? [] : Object.keys(query);
  if (misplaced !== undefined)
    return refused(
      operation,
      `${method} takes its fields in a JSON body, and "${misplaced}" is in the query.`,
    );
  const body = isInQuery
    ? { kind: 'fields' as const, fields: {} }
    : await bodyFields(operation, call, operation.hasLargeInput ? limits.largeBodyBytes : limits.bodyBytes);
  if (body.kind === 'refused') return body;
  const texts = isInQuery ? { ...query, ...call.parameters } : call.parameters;
  const others: InputFields = isInQuery ? query : body.fields;
  const twice = Object.keys(call.parameters).find((name) => Object.hasOwn(others, name));
  if (twice !== undefined) return refused(operation, `The field "${twice}" is in the path already.`);
  const read = Object.entries(texts).map(([name, text]) => [
    name,
    Object.hasOwn(properties, name) ? valueOf(text, properties[name] ?? {}, $defs) : text,
  ]);
  const given = { ...body.fields, ...(Object.fromEntries(read) as InputFields) };
  const unfit = unfitField(given);
  if (unfit !== undefined) return refused(operation, unfit);
  const parsed = shape.safeParse(given);
  if (parsed.success) return { kind: 'read', input: parsed.data };
  return refused(operation, wrongInputText(parsed.error.issues, given, Object.keys(properties)));
}

type BodyFields =
  | { readonly kind: 'fields'; readonly fields: InputFields }
  | { readonly kind: 'refused'; readonly answer: HttpAnswer };

async function bodyFields(operation: Operation, { request }: Call, bodyBytes: number): Promise<BodyFields> {
  const body = await readBody(request, bodyBytes);
  const help = `copse ${operation.command} --help`;
  if (body.kind === 'too_large') {
    const tooLarge = problem('too_large', `The body of a request may have ${sizeText(bodyBytes)}.`, help);
    return { kind: 'refused', answer: problemAnswer(tooLarge, { connection: 'close' }) };
  }
  if (body.kind !== 'read') return unreadable('The body of the request is not complete.', help);
  if (body.bytes.length === 0) return { kind: 'fields', fields: {} };
  const type = request.headers['content-type'];
  if (type !== undefined && !/^application\/json\s*(;|$)/i.test(type)) {
    const text = 'The body of a request has the content type application/json.';
    return { kind: 'refused', answer: problemAnswer(problem('unsupported_type', text, help)) };
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body.bytes);
    const read: unknown = JSON.parse(text);
    if (typeof read === 'object' && read !== null && !Array.isArray(read))
      return { kind: 'fields', fields: read as InputFields };
    return unreadable('The body of the request is no JSON object.', help);
  } catch {
    return unreadable('The body of the request is no JSON.', help);
  }
}

function unreadable(text: string, help: string): BodyFields {
  return { kind: 'refused', answer: problemAnswer(problem('usage', text, help)) };
}

function refused({ command }: Operation, text: string): InputRead {
  return { kind: 'refused', answer: problemAnswer(problem('invalid', text, `copse ${command} --help`)) };
}
