export { parse } from '../board/port.ts';
