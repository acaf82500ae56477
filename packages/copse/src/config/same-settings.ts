/** Whether two texts of copse.yml say the same: comments and layout do not count, the order of keys does. */
export async function isSameConfig(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  const { readYaml } = await import('./problems/read.ts');
  const [before, now] = [readYaml(one), readYaml(other)];
  if (before.misreadings.length + now.misreadings.length > 0) return false;
  return JSON.stringify(before.value ?? {}) === JSON.stringify(now.value ?? {});
}
