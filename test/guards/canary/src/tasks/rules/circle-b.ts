export { a } from './circle-a.ts';

export const b = 'b';
