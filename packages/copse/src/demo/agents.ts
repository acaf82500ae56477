/**
 * The four scripted agents of the demo, as files of its repository. They are shell scripts, so that people can read what an
 * agent is: a program that reads its prompt, commits in its folder, and reports with the commands for agents.
 *
 * Their timing does not matter: where two depend on each other, they wait for a change in git, not for a time.
 */

const common = String.raw`# What the agents of this demo share.
set -eu

think() { sleep "$DEMO_PAUSE" || sleep 1; }

# The prompt of this attempt says what happened before it.
is_told() { grep -q "$1" "$COPSE_PROMPT_FILE"; }

commit() {
  git add --all
  git diff --cached --quiet || git commit --quiet --message "$1" --message "Task: $COPSE_TASK_ID"
}

# copse finish refuses when something is missing. The agent stops anyway, and Copse checks the work again.
finish() { copse finish "$@" || echo 'Not accepted yet.'; }

# For at most twenty seconds.
wait_until() {
  looks=0
  until "$@"; do
    looks=$((looks + 1))
    [ "$looks" -lt 100 ] || break
    sleep 0.2 || sleep 1
  done
}

is_in_conflict() { is_told 'conflicts with what landed'; }

# Keep what both sides changed.
resolve_the_greeting() {
  copse sync --conflict
  think
  cat > src/greet.js <<'END'
export function greet(name) {
  return name ? 'Good day, ' + name + '!' : 'Good day!';
}
END
  commit 'feat(greet): be polite, with the name'
  copse ledger add decision 'Politeness and names both stay: "Good day, Kelvin!"'
}

give_up() {
  echo "$1" >&2
  exit 1
}
`;

const ada = String.raw`# ada crashes in the middle of her first task. In the next attempt she finds her work where she left it.
. agents/common.sh

read_a_temperature() {
  copse phase working
  think
  if is_told 'attempt crashed'; then
    echo 'Continuing with the half that is there.'
    [ -s src/parse.js ] || give_up 'The work of the last attempt is missing.'
    think
    grep -q 'Not a temperature' src/parse.js || cat >> src/parse.js <<'END'
  if (match === null) throw new Error('Not a temperature: ' + JSON.stringify(text));
  return { value: Number(match[1]), unit: match[2].toUpperCase() };
}
END
    commit 'feat(parse): read a temperature from text'
    copse ledger add learning 'parse() throws on whatever is no temperature, empty text included.'
    finish --summary 'parse() reads temperatures'
  else
    cat > src/parse.js <<'END'
export function parse(text) {
  const match = /^\s*(-?\d+(?:\.\d+)?)\s*°?\s*([CF])\s*$/i.exec(text);
END
    think
    echo 'Half of it is written, none of it committed, and now this:'
    kill -9 $$
  fi
}

refuse_empty_text() {
  think
  # The ledger of the task before this one is part of the context.
  if grep -q 'empty text included' AGENT_CONTEXT.md && grep -q 'Not a temperature' src/parse.js; then
    finish --no-changes --summary 'parse() refuses empty text already'
  else
    give_up 'The ledger does not say that parse() refuses empty text.'
  fi
}

case $COPSE_WORKTREE_BRANCH in
  */read-a-temperature*) read_a_temperature ;;
  */refuse-empty-text*) refuse_empty_text ;;
  *) give_up "I do not know $COPSE_WORKTREE_BRANCH" ;;
esac
`;

const ben = String.raw`# ben greets people by name, and is the first to land in src/greet.js.
. agents/common.sh

politeness_has_begun() { git for-each-ref refs/heads | grep -q '/greet-people-politely$'; }

greet_by_name() {
  copse phase working
  think
  if is_in_conflict; then
    resolve_the_greeting
  else
    # Wait until the other task has started; otherwise there would be no conflict to show.
    wait_until politeness_has_begun
    cat > src/greet.js <<'END'
export function greet(name) {
  return name ? 'Hello, ' + name + '!' : 'Hello!';
}
END
    commit 'feat(greet): greet people by name'
  fi
  finish --summary 'greet(name) says the name'
}

export_everything() {
  copse phase working
  think
  for file in src/*.js; do
    [ "$file" = src/index.js ] || echo "export * from './$(basename "$file")';"
  done > index.new
  mv index.new src/index.js
  think
  commit 'feat: export everything from index.js'
  finish --summary 'src/index.js has everything'
}

case $COPSE_WORKTREE_BRANCH in
  */greet-people-by-name) greet_by_name ;;
  */export-everything*) export_everything ;;
  *) give_up "I do not know $COPSE_WORKTREE_BRANCH" ;;
esac
`;

const cleo = String.raw`# cleo changes the same line as ben, and is told before anything lands.
. agents/common.sh

names_have_landed() { git grep -q 'greet(name)' main -- src/greet.js; }

greet_politely() {
  copse phase working
  think
  if is_in_conflict; then
    resolve_the_greeting
    finish --summary 'greet(name) is polite'
  else
    cat > src/greet.js <<'END'
export function greet() {
  return 'Good day!';
}
END
    commit 'feat(greet): greet people politely'
    finish --summary 'greet() is polite'
    # Copse checks the work when this process ends; by then main has moved.
    wait_until names_have_landed
  fi
}

write_the_notes() {
  copse phase working
  think
  {
    echo '# Thermo 1.0'
    echo
    git log --no-merges --reverse --format='- %s (%an)' | grep '^- feat'
  } > NOTES.md
  think
  commit 'docs: release notes of 1.0'
  finish --summary 'NOTES.md lists what landed'
}

case $COPSE_WORKTREE_BRANCH in
  */greet-people-politely) greet_politely ;;
  */write-the-release*) write_the_notes ;;
  *) give_up "I do not know $COPSE_WORKTREE_BRANCH" ;;
esac
`;

const dan = String.raw`# dan has a question that only a person can answer, and does not guess.
. agents/common.sh

copse phase working
think
if is_told 'A person answered'; then
  is_told 'one decimal' || give_up 'That does not answer my question.'
  think
  cat > src/convert.js <<'END'
export function toFahrenheit(celsius) {
  return Math.round((celsius * 9 / 5 + 32) * 10) / 10;
}
END
  commit 'feat(convert): round to one decimal'
  finish --summary 'toFahrenheit() keeps one decimal'
else
  cat > src/convert.js <<'END'
export function toFahrenheit(celsius) {
  return celsius * 9 / 5 + 32;
}
END
  commit 'feat(convert): convert Celsius to Fahrenheit'
  think
  copse stuck --reason 'Round to whole degrees, or keep one decimal?'
fi
`;

export const agentFiles: Readonly<Record<string, string>> = {
  'agents/common.sh': common,
  'agents/ada.sh': ada,
  'agents/ben.sh': ben,
  'agents/cleo.sh': cleo,
  'agents/dan.sh': dan,
};
