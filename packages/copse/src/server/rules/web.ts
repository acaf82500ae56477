/** Which paths belong to the dashboard, and of which type its files are. */

/** The pages of the dashboard; the first one is also at `/`. */
const pages = ['inbox', 'board', 'tasks', 'queue', 'radar', 'plans', 'fleet', 'health', 'history'] as const;

export type DashboardPage = (typeof pages)[number];

/** All pages are one document, which looks at its own address. */
export function isPagePath([first, ...rest]: readonly string[]): boolean {
  if (first === undefined || first === '') return rest.length === 0;
  return (pages as readonly string[]).includes(first);
}

const TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  json: 'application/json',
  wasm: 'application/wasm',
} as const;

export type FileType = (typeof TYPES)[keyof typeof TYPES] | 'application/octet-stream';

export function contentTypeOf(name: string): FileType {
  const ending = name.slice(name.lastIndexOf('.') + 1);
  return Object.hasOwn(TYPES, ending) ? TYPES[ending as keyof typeof TYPES] : 'application/octet-stream';
}
