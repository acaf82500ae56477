export function cheapBuiltins(): {
  transform(code: string, id: string): { code: string; map: null } | undefined;
};
