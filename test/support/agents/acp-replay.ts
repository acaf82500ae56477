/**
 * An agent that was recorded: says again what it said, line by line, and waits for its client wherever the record has it
 * speak. A client that says something else is told so, and the agent ends.
 *
 *   node acp-replay.ts <record> <folder>     `/work tree` in the record stands for the folder
 */

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

type Message = Readonly<Record<string, unknown>>;

const [file = '', folder = ''] = process.argv.slice(2);
const inJson = JSON.stringify(folder).slice(1, -1);
const FROM_AGENT = new Set(['session/update', 'session/request_permission']);
const record = readFileSync(file, 'utf8').trim().split('\n');
const heard = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

for (const line of record.map((text) => text.replaceAll('/work tree', () => inJson))) {
  const message = JSON.parse(line) as Message;
  if (!isClient(message)) {
    process.stdout.write(`${line}\n`);
    continue;
  }
  const next = await heard.next();
  if (next.done === true) process.exit(4);
  const said = JSON.parse(next.value) as Message;
  const differs = ['id', 'method', 'params', 'result'].find(
    (field) => JSON.stringify(said[field]) !== JSON.stringify(message[field]),
  );
  if (differs === undefined) continue;
  console.error(`expected ${line}\nand heard ${next.value}`);
  process.exit(3);
}
// It goes when its client does.
while ((await heard.next()).done !== true);

function isClient({ method, result }: Message): boolean {
  if (typeof method === 'string')
    return method === 'initialize' || (method.startsWith('session/') && !FROM_AGENT.has(method));
  return typeof result === 'object' && result !== null && 'outcome' in result;
}
