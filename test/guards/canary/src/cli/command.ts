export const command = 'copse';
