export { start } from '../git/process.ts';
