export { b } from './circle-b.ts';

export const a = 'a';
