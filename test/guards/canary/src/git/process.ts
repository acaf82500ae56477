export const start = 'git';
