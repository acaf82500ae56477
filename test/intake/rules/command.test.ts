/** Which programs of a `command` source are files of the repository. */

import { expect, it } from 'vitest';

import { programInRepository } from '../../../packages/copse/src/intake/rules/command.ts';

it.each([
  ['./scripts/items', './scripts/items'],
  ['scripts/items --open', 'scripts/items'],
  ['LIMIT=5 ../items', '../items'],
  ['gh issue list | ./to-items', './to-items'],
  ['bash scripts/items.sh', 'scripts/items.sh'],
  ['node items/list.mjs', 'items/list.mjs'],
  ['cd /x && ./items', './items'],
  ['gh issue list --repo octo/trees --json number,title', null],
  ['/opt/tools/items', null],
  ['~/bin/items', null],
  ['cat /srv/items', null],
  ['curl -s https://example.invalid/items', null],
])('%s', (command, expected) => {
  expect(programInRepository(command)).toBe(expected);
});
