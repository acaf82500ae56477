#!/bin/sh
# An agent for whole runs: runs-agent.sh <log> [seconds between steps]
#
# What it does depends on the title of its task, which begins its branch, and on what an earlier attempt left in the
# worktree. Whatever it wrote or committed it says in the log, and only once it is done: from then on it must be found.
# Every text that it writes is one of a kind.
log=$1
step=${2:-0.05}
number=0

say() { printf '%s %s %s\n' "$1" "$COPSE_TASK_ID" "$2" >>"$log"; }

pause() { sleep "$step"; }

write() {
  number=$((number + 1))
  token=$COPSE_ATTEMPT_ID-$$-$number
  # Anything here may be killed, and what was not written must not be called written.
  mkdir -p "work/$COPSE_TASK_ID" || exit 1
  # Not the same as its name, which is listed in places that keep no content.
  printf 'text of %s\n' "$token" >"work/$COPSE_TASK_ID/$token.txt" || exit 1
  say wrote "$token"
}

commit() {
  git add --all || exit 1
  git commit --quiet --message "feat: $token" --message "Task: $COPSE_TASK_ID" || exit 1
  head=$(git rev-parse HEAD) || exit 1
  say committed "$head $token"
}

report() {
  mkdir -p .copse || exit 1
  printf '%s' "$1" >.copse/session.json.new
  mv .copse/session.json.new .copse/session.json
}

was_here() { [ -d "work/$COPSE_TASK_ID" ]; }

is_merging() { [ -f "$(git rev-parse --git-path MERGE_HEAD)" ]; }

say began "$COPSE_ATTEMPT_ID $$"
case ${COPSE_WORKTREE_BRANCH#*/} in
  steps*)
    for _ in 1 2 3; do
      write
      pause
      commit
    done
    report '{"status": "finished", "summary": "three steps"}'
    ;;
  dirt*)
    if was_here; then
      write
      commit
    else
      write
    fi
    ;;
  crash*)
    if was_here; then
      write
      commit
      report '{"status": "finished"}'
    else
      write
      echo 'boom' >&2
      exit 3
    fi
    ;;
  wipe*)
    # It does not want what its predecessor left, which is why that is saved first.
    if grep -q "^wrote $COPSE_TASK_ID " "$log"; then
      git reset --quiet --hard && git clean --quiet --force -d || exit 1
      write
      commit
      report '{"status": "finished"}'
    else
      write
      exit 3
    fi
    ;;
  fork*)
    write
    setsid sh -c 'sleep 300' >/dev/null 2>&1 &
    pause
    commit
    copse finish --summary 'with a child' >/dev/null || exit 1
    ;;
  ask*)
    write
    pause
    copse stuck --reason 'This way or that?' >/dev/null || exit 1
    ;;
  nothing*)
    pause
    report '{"status": "finished", "noChanges": true}'
    ;;
  clash*)
    if was_here && ! is_merging; then
      # Uncommitted files of a killed predecessor would block this.
      git add --all || exit 1
      git diff --cached --quiet || git commit --quiet --message "feat: what was left" || exit 1
      copse sync --conflict || exit 1
    fi
    write
    if is_merging; then echo 'as both meant it' >shared.txt; else printf '%s\n' "$token" >shared.txt; fi
    pause
    commit
    report '{"status": "finished"}'
    ;;
  stubborn*)
    write
    report '{"status": "finished"}'
    ;;
  hopeless*)
    write
    pause
    exit 1
    ;;
  locked*)
    # As a git does that is killed while it commits.
    if was_here; then
      write
      commit
      report '{"status": "finished"}'
    else
      write
      : >"$(git rev-parse --git-path index.lock)"
      exit 3
    fi
    ;;
  long*)
    write
    while [ ! -e "$log.go" ] && [ ! -e "$log.$COPSE_ATTEMPT_ID.go" ]; do sleep 0.3; done
    commit
    report '{"status": "finished"}'
    ;;
  *)
    echo "no such task: $COPSE_WORKTREE_BRANCH" >&2
    exit 1
    ;;
esac
