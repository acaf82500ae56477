export const pack = 'pack';
