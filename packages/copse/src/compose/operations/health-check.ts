import type { HealthCheck } from '../../operations/access.ts';

export function fine(name: string, found: string): HealthCheck {
  return { name, state: 'fine', found, remedy: null };
}

export function problem(name: string, found: string, remedy: string): HealthCheck {
  return { name, state: 'problem', found, remedy };
}

export function missing(name: string, found: string, remedy: string | null): HealthCheck {
  return { name, state: 'missing', found, remedy };
}
