import { type ConfigRow, flattenConfig } from '../../config/problems/flatten.ts';
import type { Access } from '../access.ts';
import { requireValid } from './config-file.ts';

export async function act({ here }: Access): Promise<readonly ConfigRow[]> {
  return flattenConfig(requireValid(here, 'accepted').written);
}

export function view(settings: readonly ConfigRow[]) {
  return { settings };
}
