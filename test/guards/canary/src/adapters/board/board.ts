export const board = 'board';
