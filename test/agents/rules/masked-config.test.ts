import { expect, it } from 'vitest';

import { withoutSecrets } from '../../../packages/copse/src/agents/sandbox/masked-config.ts';

// promise: agents-without-secrets
it.each([
  ['\turl = https://ada:secret@host/x.git', '\turl = https://host/x.git'],
  ['\turl = https://secret@host:8080/x.git', '\turl = https://host:8080/x.git'],
  ['[url "HTTP://x-token:secret@host/"]', '[url "HTTP://host/"]'],
  ['\turl = ssh://git:secret@host/x.git', '\turl = ssh://git@host/x.git'],
  ['\textraHeader = AUTHORIZATION: basic secret', '\textraHeader ='],
  ['[http "https://host/"] extraheader = secret', '[http "https://host/"] extraheader ='],
  ['\textraheader = AUTH\\\nORIZATION: secret', '\textraheader ='],
  ['\thelper = !echo password=secret', '\thelper ='],
])('of git’s settings, %j becomes %j', (line, shown) => {
  expect(withoutSecrets(`[core]\n\tbare = false\n${line}\n`)).toBe(`[core]\n\tbare = false\n${shown}\n`);
});

it.each([
  '\turl = git@host:ada/x.git',
  '\turl = ssh://git@host/x.git',
  '\turl = https://host/a@b/x',
  '\tname = a\\\n b',
])('a setting without a secret stays: %j', (line) => expect(withoutSecrets(line)).toBe(line));
