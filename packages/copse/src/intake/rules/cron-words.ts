/** A cron expression in words: "at 06:00 on Monday to Friday". What has no short words is said field by field. */

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);

const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@hourly': '0 * * * *',
};

export function cronWords(expression: string): string {
  const fields = (NICKNAMES[expression] ?? expression).trim().split(/ +/);
  const [second, minute = '*', hour = '*', day = '*', month = '*', weekday = '*'] =
    fields.length === 6 ? fields : ['0', ...fields];
  const days = daysWords(day, weekday);
  const months = isAny(month) ? '' : ` in ${listWords(month, monthName)}`;
  return `${timeWords(second ?? '0', minute, hour)}${days}${months}`;
}

function timeWords(second: string, minute: string, hour: string): string {
  if (second !== '0') {
    const seconds = /^\*\/\d+$/.test(second) ? `every ${second.slice(2)} seconds` : `at second ${second}`;
    return isAny(minute) && isAny(hour)
      ? isAny(second)
        ? 'every second'
        : seconds
      : `${isAny(second) ? 'every second' : seconds}, ${timeWords('0', minute, hour)}`;
  }
  const [, minuteStep] = /^(?:\*|0-59)\/(\d+)$/.exec(minute) ?? [];
  const hours = hoursWords(hour);
  if (isAny(minute)) return `every minute${hours}`;
  if (minuteStep !== undefined) return `every ${counted(minuteStep, 'minute')}${hours}`;
  if (/^[\d,]+$/.test(minute) && /^[\d,]+$/.test(hour)) {
    const times = hour.split(',').flatMap((h) => minute.split(',').map((m) => `${pad(h)}:${pad(m)}`));
    return `at ${joined(times)}`;
  }
  if (minute === '0' && isAny(hour)) return 'every hour';
  if (minute === '0' && hours.startsWith(' every')) return hours.trimStart();
  const at = listWords(minute, (text) => text);
  return isAny(hour) ? `every hour at minute ${at}` : `at minute ${at}${hours}`;
}

/** With a space before it; empty for every hour. */
function hoursWords(hour: string): string {
  if (isAny(hour)) return '';
  const [, step] = /^(?:\*|0-23)\/(\d+)$/.exec(hour) ?? [];
  if (step !== undefined) return ` every ${counted(step, 'hour')}`;
  const isOne = /^\d+$/.test(hour);
  return ` in the ${isOne ? 'hour' : 'hours'} ${listWords(hour, (text) => text)}`;
}

/** Cron starts on a day that fits either of the two, if both are given. */
function daysWords(day: string, weekday: string): string {
  const onDay = isAny(day)
    ? null
    : day === 'L'
      ? 'on the last day of the month'
      : `on day ${listWords(day, (text) => text)} of the month`;
  const onWeekday = isAny(weekday) ? null : `on ${listWords(weekday, dayName)}`;
  const both = [onDay, onWeekday].filter((one) => one !== null);
  return both.length === 0 ? '' : ` ${both.join(' and ')}`;
}

function listWords(field: string, nameOf: (text: string) => string): string {
  return joined(
    field.split(',').map((part) => {
      const [range = '', step] = part.split('/');
      const [from = '', to] = range.split('-');
      const named = to === undefined ? nameOf(from) : `${nameOf(from)} to ${nameOf(to)}`;
      return step === undefined ? named : `every ${step} from ${isAny(range) ? 'the first' : named}`;
    }),
  );
}

function dayName(text: string): string {
  const number = Number(text) % 7;
  if (Number.isInteger(number) && text !== '') return DAYS[number] ?? text;
  return DAYS.find((name) => name.slice(0, 3).toUpperCase() === text.toUpperCase()) ?? text;
}

function monthName(text: string): string {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return MONTHS[number - 1] ?? text;
  return MONTHS.find((name) => name.slice(0, 3).toUpperCase() === text.toUpperCase()) ?? text;
}

function isAny(field: string): boolean {
  return field === '*' || field === '?';
}

function pad(text: string): string {
  return text.padStart(2, '0');
}

function counted(count: string, unit: string): string {
  return count === '1' ? unit : `${count} ${unit}s`;
}

function joined(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}
