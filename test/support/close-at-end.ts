/** What tests opened and a test that failed may have left open. */

const opened: (() => unknown)[] = [];

export function closeAtEnd(close: () => unknown): void {
  opened.push(close);
}

export async function closeAll(): Promise<void> {
  for (const close of opened.splice(0)) await close();
}
