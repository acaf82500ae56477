// The repository of the recorded run: eight scripted agents, of which two ask, one meets a conflict, one crashes and one waits
// for a review. Each gets what it needs from a person, and goes on.

const COMMON = String.raw`set -eu
say() { echo "$*"; sleep "$PAUSE"; }
is_told() { grep -q "$1" "$COPSE_PROMPT_FILE"; }
commit() { git add --all; git commit --quiet --message "$1"; }
finish() { copse finish --summary "$1" || echo 'Not accepted yet.'; }
`;

const work = (file: string, steps: readonly string[], message: string) => `. agents/common.sh
copse phase working
${steps.map((step) => `say '${step}'`).join('\n')}
echo "export const ${file} = '${message}';" > src/${file}.js
say 'Running the tests'
commit 'feat(${file}): ${message}'
finish '${message}'
`;

export const titles = {
  ada: 'Read a temperature from text',
  ben: 'Greet people by name',
  cleo: 'Greet people politely',
  dan: 'Convert Celsius to Fahrenheit',
  eve: 'Store readings in a file',
  fay: 'Draw a chart of a week',
  gus: 'Change the licence header',
  hal: 'Warn about frost',
} as const;

type Agent = keyof typeof titles;

/** What a person types, by a word of the question. */
export const answers = [
  ['decimal', 'Keep one decimal.'],
  ['JSON or CSV', 'CSV, one line for each reading.'],
  ['conflict', 'Keep both: the name and the politeness.'],
] as const;

const scripts: Readonly<Record<Agent, string>> = {
  ada: `. agents/common.sh
copse phase working
if [ -f "$0.crashed" ]; then
  say 'Going on with the half that is there'
  say 'Writing the other half'
  echo "export const parse = Number;" > src/parse.js
  commit 'feat(parse): read a temperature'
  finish 'parse() reads temperatures'
else
  say 'Looking at the examples'
  say 'Writing src/parse.js'
  say 'Running the tests'
  : > "$0.crashed"
  kill -9 $$
fi
`,
  ben: work('greet', ['Reading src/greet.js', 'Adding the name'], 'Hello, name!'),
  cleo: `. agents/common.sh
copse phase working
if is_told 'Keep both'; then
  say 'Bringing in what landed'
  copse sync --conflict || true
  say 'Keeping both sides'
  echo "export const greet = 'Good day, name!';" > src/greet.js
  commit 'feat(greet): be polite, with the name'
  finish 'greet() is polite'
else
  say 'Reading src/greet.js'
  say 'Thinking about politeness'
  say 'Choosing words'
  say 'Asking a dictionary'
  echo "export const greet = 'Good day!';" > src/greet.js
  commit 'feat(greet): be polite'
  finish 'greet() is polite'
fi
`,
  dan: `. agents/common.sh
copse phase working
if is_told 'one decimal'; then
  say 'Rounding to one decimal'
  echo "export const toFahrenheit = (c) => Math.round(c * 18 + 320) / 10;" > src/convert.js
  commit 'feat(convert): one decimal'
  finish 'toFahrenheit() keeps one decimal'
else
  say 'Reading the formula'
  say 'Writing src/convert.js'
  copse stuck --reason 'Round to whole degrees, or keep one decimal?'
fi
`,
  eve: `. agents/common.sh
copse phase working
if is_told 'CSV'; then
  say 'Writing CSV'
  say 'Running the tests'
  echo "export const store = (r) => r.join(',');" > src/store.js
  commit 'feat(store): CSV'
  finish 'store() writes CSV'
else
  say 'Looking how readings come in'
  say 'Measuring sizes'
  say 'Comparing formats'
  say 'Trying JSON'
  say 'Trying CSV'
  copse stuck --reason 'Readings as JSON or CSV? JSON is larger, CSV has no types.'
fi
`,
  fay: work(
    'chart',
    Array.from({ length: 9 }, (_, day) => `Drawing day ${day + 1} of 9`),
    'a chart',
  ),
  gus: work('licence', ['Reading LICENSE', 'Looking for headers', 'Changing 12 files'], 'a new header'),
  hal: work(
    'frost',
    Array.from({ length: 7 }, (_, hour) => `Trying threshold ${hour - 3} °C`),
    'a warning',
  ),
};

export function sceneFiles(pauseSeconds: number): Readonly<Record<string, string>> {
  const agents = Object.keys(scripts).map((name) => ({
    command: ['sh', `agents/${name}.sh`],
    env: { PAUSE: String(pauseSeconds) },
    landing: { policy: name === 'gus' ? 'review' : 'auto', on_conflict: 'skip' },
  }));
  const settings = {
    agents: Object.fromEntries(Object.keys(scripts).map((name, index) => [name, agents[index]])),
    landing: { target: 'main' },
    policy: {
      max_agents: 8,
      max_retries: 0,
      handbacks: { conflict: 0 },
      poll_interval: '1s',
      min_free_memory: '64MB',
      min_free_disk: '32MB',
    },
  };
  return {
    'copse.yml': JSON.stringify(settings, null, 2),
    '.gitignore': '*.crashed\n',
    'src/greet.js': "export const greet = 'Hello!';\n",
    'agents/common.sh': COMMON,
    ...Object.fromEntries(Object.entries(scripts).map(([name, script]) => [`agents/${name}.sh`, script])),
  };
}
