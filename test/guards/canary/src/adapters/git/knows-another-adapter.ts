export { board } from '../board/board.ts';
