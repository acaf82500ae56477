#!/bin/sh
# An agent that attacks Copse: agent.sh <notes> <seconds that an honest one works>
#
# The title of its task begins its branch and names what it does: `honest …` is ordinary work, every other title is a
# function of tricks.sh. What it plants writes a line to <notes>/fired if Copse runs it.
notes=$1
seconds=$2
here=${0%/*}
title=${COPSE_WORKTREE_BRANCH#*/}

. "$here/tricks.sh"

case $title in
  honest*) honest ;;
  # Tasks that agents added.
  more*) copse finish --no-changes --summary 'nothing to do' ;;
  *)
    # It does not listen to what it is told when its work comes back.
    [ -e "$notes/$COPSE_TASK_ID.tried" ] && exit 0
    : >"$notes/$COPSE_TASK_ID.tried"
    "$(printf %s "$title" | tr - _)"
    ;;
esac
