/** A process that runs commands one after the other, and says of each how it ended: one that hangs can be ended from outside. */

import { writeSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';

import { main } from '../../packages/copse/src/cli/main.ts';

export interface CommandEnd {
  readonly command: string;
  readonly code: number;
  readonly said: string;
  readonly ms: number;
}

const [cwd = '', commands = '[]'] = process.argv.slice(2);
const env = process.env as Record<string, string>;

for (const argv of JSON.parse(commands) as readonly (readonly string[])[]) {
  let said = '';
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      said += chunk.toString();
      done();
    },
  });
  const before = performance.now();
  const code = await main(argv, '0.0.0', {
    cwd,
    env,
    stdin: () => Readable.from([]),
    stdout: output,
    stderr: output,
  });
  const end: CommandEnd = { command: argv.join(' '), code, said, ms: Math.round(performance.now() - before) };
  writeSync(1, `${JSON.stringify(end)}\n`);
}
process.exit(0);
