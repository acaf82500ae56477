import { expect, test } from 'vitest';

import { cronWords } from '../../../packages/copse/src/intake/rules/cron-words.ts';

test.each([
  ['0 6 * * 1-5', 'at 06:00 on Monday to Friday'],
  ['30 6 * * MON,WED', 'at 06:30 on Monday and Wednesday'],
  ['0 0 * * *', 'at 00:00'],
  ['0 6,18 * * *', 'at 06:00 and 18:00'],
  ['@daily', 'at 00:00'],
  ['@weekly', 'at 00:00 on Sunday'],
  ['@monthly', 'at 00:00 on day 1 of the month'],
  ['@yearly', 'at 00:00 on day 1 of the month in January'],
  ['@hourly', 'every hour'],
  ['0 * * * *', 'every hour'],
  ['15 * * * *', 'every hour at minute 15'],
  ['* * * * *', 'every minute'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['*/1 * * * *', 'every minute'],
  ['*/15 9-17 * * 1-5', 'every 15 minutes in the hours 9 to 17 on Monday to Friday'],
  ['0 */2 * * *', 'every 2 hours'],
  ['5 */2 * * *', 'at minute 5 every 2 hours'],
  ['0 9-17 * * *', 'at minute 0 in the hours 9 to 17'],
  ['0 0 L * *', 'at 00:00 on the last day of the month'],
  ['0 0 1 JAN,7 *', 'at 00:00 on day 1 of the month in January and July'],
  ['0 0 13 * 5', 'at 00:00 on day 13 of the month and on Friday'],
  ['0 0 */2 * *', 'at 00:00 on day every 2 from the first of the month'],
  ['*/10 * * * * *', 'every 10 seconds'],
  ['* * * * * *', 'every second'],
  ['30 0 6 * * *', 'at second 30, at 06:00'],
])('%s is %s', (expression, words) => {
  expect(cronWords(expression)).toBe(words);
});
