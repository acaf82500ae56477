export { command } from '../cli/command.ts';
