import path from 'node:path';

/** Whether a path is the folder or lies in it, by name alone. */
export function isWithin(folder: string, entry: string): boolean {
  const relative = path.relative(folder, entry);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}
