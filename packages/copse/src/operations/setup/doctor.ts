import { splitRemark } from '../../kernel/shell.ts';
import type { Access, HealthCheck } from '../access.ts';

export async function act(access: Access): Promise<readonly HealthCheck[]> {
  return access.here.health();
}

export function view(checks: readonly HealthCheck[]) {
  return {
    checks: checks.map(({ remedy, ...check }) => ({
      ...check,
      remedy: remedy && splitRemark(remedy).command,
      ok: check.state !== 'problem',
    })),
  };
}
