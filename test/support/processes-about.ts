import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** Whatever works in the folder or was started for it; nothing where the system does not show it. */
export function processesAbout(folder: string): readonly string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => traces(pid).some((text) => text.includes(folder)));
}

function traces(pid: string): readonly string[] {
  try {
    const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
    return [read('cmdline'), read('environ'), readlinkSync(`/proc/${pid}/cwd`)];
  } catch {
    // Gone, or another user's.
    return [];
  }
}
