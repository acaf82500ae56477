// An agent that speaks the Agent Client Protocol, one line of JSON for each message. The title of its task says what it does:
// asks for a permission, stops with a question, or only works; what it is told shows in what it writes.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const sessionId = `talk-${process.env.COPSE_SESSION_ID}`;
const options = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];
let allowed;

const methods = {
  initialize: () => ({
    protocolVersion: 1,
    agentInfo: { name: 'day' },
    agentCapabilities: { loadSession: true },
  }),
  'session/new': () => ({ sessionId }),
  'session/load': () => ({}),
  'session/prompt': async ({ prompt }) => {
    await work(prompt.map(({ text }) => text).join('\n'));
    const content = { type: 'text', text: 'Done.' };
    const update = { sessionUpdate: 'agent_message_chunk', messageId: 'm', content };
    say({ method: 'session/update', params: { sessionId, update } });
    return { stopReason: 'end_turn' };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) allowed?.(result.outcome.optionId === 'yes');
  else if (id !== undefined)
    void Promise.resolve(methods[method]?.(params) ?? {}).then((answer) => say({ id, result: answer }));
}

async function work(prompt) {
  const has = (words) => prompt.includes(words);
  if (has('Rename the loader') && !(await mayRun('make rename'))) return;
  if (has('Write the index') && !(await mayRun('make index'))) return;
  if (has('Paint the menu') && !has('green')) {
    execFileSync('copse', ['stuck', '--reason', 'Blue or green?'], { stdio: 'ignore' });
    return;
  }
  const lines = [
    process.env.COPSE_TASK_ID,
    ...(has('two lines') ? ['second line'] : []),
    ...(has('green') ? ['green'] : []),
  ];
  writeFileSync(`${process.env.COPSE_TASK_ID}.txt`, `${lines.join('\n')}\n`);
  execFileSync('git', ['add', '--all']);
  execFileSync('git', ['commit', '--quiet', '--message=feat: work']);
}

function mayRun(command) {
  const toolCall = { toolCallId: 'call-1', title: command, kind: 'execute', rawInput: { command } };
  say({ id: 'ask-1', method: 'session/request_permission', params: { sessionId, toolCall, options } });
  return new Promise((resolve) => (allowed = resolve));
}
