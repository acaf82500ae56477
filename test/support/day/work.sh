#!/bin/sh
# One turn of an agent of the day: work.sh <folder of the day>. The three kinds of agents (a plain command, codex, acp.sh)
# run this, and tell its exit code in their own way: 3 is a crash, 127 a fault that another try would meet again.
# What it does depends on the title of its task, which ends its branch, and on what earlier attempts left.
day=$1
slug=${COPSE_WORKTREE_BRANCH##*/}
file=work/$COPSE_TASK_ID.txt

say() { printf '%s %s %s %s\n' "$1" "$slug" "$COPSE_TASK_ID" "$COPSE_AGENT" >>"$day/said.log"; }

wait_for() { while [ ! -e "$day/$1" ]; do sleep 0.1; done; }

write() { mkdir -p work && printf 'text of %s\n' "$COPSE_TASK_ID" >"$file" || exit 1; }

commit() { git add --all && git commit --quiet --message "feat: $slug" --message "Task: $COPSE_TASK_ID" || exit 1; }

# Whether it is the first time that this task gets here.
is_first() { mkdir "$day/$COPSE_TASK_ID.$1" 2>/dev/null; }

was_told() { grep --quiet "$1" .copse/session-prompt.md; }

say began
case $slug in
  pair-*)
    pair=${slug%-*}
    if is_first begun; then
      wait_for pairs.go
      write
      printf '%s\n' "$slug" >"$pair.txt"
      commit
    else
      # Its work is committed, and the other one of the pair landed first.
      copse sync --conflict || exit 1
      printf 'both of %s\n' "$pair" >"$pair.txt"
      git add --all && git commit --quiet --message "fix: both of $pair" --message "Task: $COPSE_TASK_ID" || exit 1
      say resolved
    fi
    ;;
  crash-*)
    if is_first crash; then
      write
      say crashes
      exit 3
    fi
    [ -e "$file" ] || exit 1
    commit
    ;;
  killed-*)
    if is_first kill; then
      write
      say waits
      wait_for never
    fi
    [ -e "$file" ] || exit 1
    commit
    ;;
  ask-*)
    if was_told 'Paint it green'; then
      write
      copse ledger add decision 'The door is green' || exit 1
      commit
    else
      copse stuck --reason 'Blue or green?' || exit 1
    fi
    ;;
  lost-*)
    if is_first loss; then exit 127; fi
    write
    commit
    ;;
  *)
    write
    commit
    ;;
esac
say ended
