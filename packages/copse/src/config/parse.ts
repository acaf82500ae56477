import { problemsOf, explainIssue, formatPath, type ConfigProblem } from './problems/problems.ts';
import { readYaml } from './problems/read.ts';
import { configSchema, type Config } from './schema.ts';

export type ParsedConfig =
  | {
      readonly kind: 'valid';
      readonly config: Config;
      /** The keys and values as the file has them, for `flattenConfig`. */
      readonly written: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'invalid'; readonly problems: readonly [ConfigProblem, ...ConfigProblem[]] };

/** Every problem is reported, in the order of the file. An empty file is the default configuration. */
export function parseConfig(text: string, { file }: { readonly file: string }): ParsedConfig {
  const reading = readYaml(text);
  const misread = reading.misreadings.map(({ path, message, line, column }) => ({
    file,
    path: formatPath(path),
    line,
    column,
    message: path.length === 0 ? message : `${formatPath(path)} ${message}`,
  }));
  // Unreadable parts would also be reported as missing.
  const [first, ...rest] = misread;
  if (first !== undefined) return { kind: 'invalid', problems: [first, ...rest] };

  const written = (reading.value ?? {}) as Readonly<Record<string, unknown>>;
  // jitless: compiling the schema takes longer than parsing one file.
  const result = configSchema.safeParse(written, { error: explainIssue, jitless: true });
  if (result.success) return { kind: 'valid', config: result.data, written };

  const problems = problemsOf(result.error.issues, reading, file).toSorted(
    (a, b) => a.line - b.line || a.column - b.column,
  );
  const [firstProblem, ...otherProblems] = problems;
  if (firstProblem === undefined) throw new Error('the configuration was refused without a problem');
  return { kind: 'invalid', problems: [firstProblem, ...otherProblems] };
}

export function defaultConfig(): Config {
  return configSchema.parse({});
}
