export const PROGRAMS: readonly {
  readonly entry: string;
  readonly groups: Readonly<Record<string, RegExp>>;
}[];
