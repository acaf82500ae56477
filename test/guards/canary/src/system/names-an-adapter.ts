export { board } from '../adapters/board/board.ts';
