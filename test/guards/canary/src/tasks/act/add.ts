export const add = 'add';
