export { add } from '../tasks/act/add.ts';
