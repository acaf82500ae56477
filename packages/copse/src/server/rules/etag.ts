/** Tags of answers (RFC 9110, 13.1.2). Two tags that differ only in being weak mean the same answer. */

export function isKnownTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const strong = (text: string) => text.trim().replace(/^W\//, '');
  return ifNoneMatch.split(',').some((one) => one.trim() === '*' || strong(one) === strong(tag));
}
