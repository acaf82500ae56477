// Applies the import rules to the product, and proves with the canary tree that every rule can see.

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { cruise } from 'dependency-cruiser';

import config from '../.dependency-cruiser.mjs';

const CANARY = 'test/guards/canary/';

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));

const { forbidden, options } = config;
const { output } = await cruise(
  ['packages/copse/src', 'packages/web/src', `${CANARY}src`, `${CANARY}web/src`],
  {
    ...options,
    validate: true,
    ruleSet: { forbidden },
  },
);
const { violations, totalCruised } = output.summary;

const real = violations.filter((violation) => !violation.from.startsWith(CANARY));
const seen = new Set(
  violations.filter((violation) => violation.from.startsWith(CANARY)).map(({ rule }) => rule.name),
);
const blind = forbidden.filter((rule) => !seen.has(rule.name));

for (const { rule, from, to } of real) {
  const { comment } = forbidden.find(({ name }) => name === rule.name);
  console.log(`${from} imports ${to}\n  ${rule.name}: ${comment}`);
}
for (const rule of blind) {
  console.log(`the checker is blind: rule ${rule.name} does not report the violation planted in ${CANARY}`);
}
console.log(`${totalCruised} modules, ${real.length} violations`);
process.exitCode = real.length + blind.length > 0 ? 1 : 0;
