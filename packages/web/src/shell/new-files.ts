/**
 * A part of the page could not be loaded. After an upgrade its file is gone and has another name, so the page is loaded again,
 * once: a file that is missing for another reason must not make it load for ever. While the server is away, it waits, and while
 * a form has text that a person typed.
 */

const KEY = 'copse.reloaded';
const ONCE_IN_MS = 60_000;
const LOOK_EVERY_MS = 1_000;

let isAhead = false;
let isWaiting = false;
let isNow = false;

/** Loads what no person asked for yet: if it is not there, nothing is loaded again under the hands of a person. */
export async function loadAhead(load: () => Promise<unknown>): Promise<void> {
  isAhead = true;
  try {
    await load();
  } catch {
    // It is loaded when it is opened.
  } finally {
    isAhead = false;
  }
}

export function reloadOnceForNewFiles(): void {
  addEventListener('vite:preloadError', () => {
    if (!isAhead) reloadOnce();
  });
}

/** A part that is on the page failed: its event may have come while other parts were loaded ahead. */
export function reloadOnceIfUnloaded(error: unknown): void {
  if (isNotLoaded(error)) reloadOnce();
}

export function isNotLoaded(error: unknown): boolean {
  return error instanceof Error && /dynamically imported|preload|module script/i.test(error.message);
}

function reloadOnce(): void {
  if (isWaiting || Date.now() - Number(sessionStorage.getItem(KEY)) < ONCE_IN_MS) return;
  isWaiting = true;
  void reloadWhenServed();
}

async function reloadWhenServed(): Promise<void> {
  while (hasTypedText() || !(await hasServer()))
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  sessionStorage.setItem(KEY, String(Date.now()));
  isNow = true;
  location.reload();
}

/** The page loads itself again: what it keeps for that must not make the browser ask. */
export function isReloading(): boolean {
  return isNow;
}

function hasTypedText(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    'form textarea, dialog form input:not([type=checkbox])',
  );
  return [...fields].some(({ value }) => value.trim() !== '');
}

/** Without a server the browser would show a page of its own in place of this one. */
export async function hasServer(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { method: 'HEAD', cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}
