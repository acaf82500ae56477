/** One request for one operation: read and validate the input, act, answer with the view. */

import { createHash } from 'node:crypto';

import type { KeyedRequest } from '../../board/rules/keyed-request.ts';
import { refuseSession } from '../../operations/callers.ts';
import type { Operation } from '../../operations/operation.ts';
import { performRead } from '../../operations/perform.ts';
import { type HttpAnswer, json, problemAnswer, taggedAnswer } from '../answer.ts';
import { explain } from '../explain.ts';
import type { Call, HttpCaller, ServedParts } from '../routes.ts';
import { problem } from '../rules/problem.ts';
import { readInput } from './read-input.ts';

export async function answerCall(
  operation: Operation,
  serving: ServedParts,
  call: Call,
): Promise<HttpAnswer> {
  const made = await answered(operation, serving, call);
  const isGet = operation.http.method === 'GET';
  const answer = isGet ? tagged(made, call.request.headers['if-none-match']) : made;
  serving.counts.operations.add(operation.name, answer.status);
  return answer;
}

async function answered(operation: Operation, serving: ServedParts, call: Call): Promise<HttpAnswer> {
  const { caller, request } = call;
  const { headers } = request;
  const read = await readInput(operation, call, serving.limits);
  if (read.kind === 'refused') return read.answer;
  const { input } = read;
  if (operation.effect === 'destroys' && headers['confirm'] !== operation.name)
    return needsConfirmation(operation);
  const key = headers['idempotency-key'];
  if (key === undefined) return performed(operation, serving, { input, caller });
  if (!operation.creates) return wrongKey(operation, `${operation.name} takes no Idempotency-Key.`);
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
    return wrongKey(operation, 'An Idempotency-Key has 1 to 255 letters of ASCII, without spaces.');
  // A session and the person may draw the same key.
  const own = caller.kind === 'session' ? `${caller.session} ${key}` : key;
  const wanted = { key: own, input: JSON.stringify([operation.name, input]) };
  return serving.once.answer(wanted, (keyed) => performed(operation, serving, { input, caller, keyed }));
}

interface PerformedFor {
  readonly input: unknown;
  readonly caller: HttpCaller;
  readonly keyed?: KeyedRequest;
}

/** Never throws: a keyed request keeps its failure too. */
async function performed(
  operation: Operation,
  { withAccess, onProblem }: ServedParts,
  { input, ...asked }: PerformedFor,
): Promise<HttpAnswer> {
  try {
    const document = await withAccess(async (access) => {
      refuseSession(operation, access.env, input);
      return performRead(operation, access, input);
    }, asked);
    const answer = json(document, operation.creates ? 201 : 200);
    return operation.undo === undefined ? answer : { ...answer, headers: { 'copse-undo': operation.undo } };
  } catch (error) {
    return explain(error, onProblem);
  }
}

/** For a client that polls. The time of the look is no change. */
function tagged(answer: HttpAnswer, ifNoneMatch: string | undefined): HttpAnswer {
  if (answer.status !== 200) return answer;
  const document = JSON.parse(answer.body) as Readonly<Record<string, unknown>>;
  const { at, ...rest } = document;
  const hash = createHash('sha256').update(JSON.stringify(rest)).digest('base64url').slice(0, 22);
  const etag = at === undefined ? `"${hash}"` : `W/"${hash}"`;
  return taggedAnswer(answer, etag, ifNoneMatch);
}

function needsConfirmation({ name, description, command, undo = '' }: Operation): HttpAnswer {
  const text = `${description} To do that, send the header "Confirm: ${name}". ${undo}`;
  return problemAnswer({ ...problem('needs_confirmation', text, `copse ${command} --help`), undo });
}

function wrongKey({ command }: Operation, text: string): HttpAnswer {
  return problemAnswer(problem('usage', text, `copse ${command} --help`));
}
