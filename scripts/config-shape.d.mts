import type { Shape } from '../packages/copse/src/config/shape/shape.ts';

export function shapeOf(schema: object, rules: object): Shape;
