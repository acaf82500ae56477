/**
 * Writes the OpenAPI document of `copse serve` from the registry of operations.
 * With `--check` nothing is written; it exits 1 when the file is not what would be written.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { operations } from '../../packages/copse/src/operations/registry.ts';
import { openApiDocument } from '../../packages/copse/src/server/api/openapi.ts';

/** Relative to the repository root. */
export const openApiFile = 'docs/reference/openapi.json';

export async function generateOpenApi(): Promise<string> {
  return `${JSON.stringify(await openApiDocument(operations), null, 2)}\n`;
}

async function main(args: readonly string[]): Promise<void> {
  const file = join(import.meta.dirname, '../..', openApiFile);
  const content = await generateOpenApi();
  if (existsSync(file) && readFileSync(file, 'utf8') === content) return;
  if (args.includes('--check')) {
    console.error(`${openApiFile} is out of date: run scripts/references/generate-openapi.ts`);
    process.exitCode = 1;
    return;
  }
  writeFileSync(file, content);
  console.log(`wrote ${openApiFile}`);
}

if (import.meta.main) await main(process.argv.slice(2));
