# What a hostile agent does, one function each, and what an honest one does. Sourced by agent.sh.
# Most commit a file first, so that the attempt would end well without the trick.

# ---- what all of them use

own_git=$(git rev-parse --absolute-git-dir)
shared_git=$(git rev-parse --path-format=absolute --git-common-dir)
fired=$notes/fired

work() {
  mkdir -p "work/$COPSE_TASK_ID"
  date +%s%N >"work/$COPSE_TASK_ID/${1:-file}.txt"
  git add "work/$COPSE_TASK_ID"
  git commit --quiet --message "feat: ${2:-$title}" || exit 1
}

pipe_at() {
  rm -rf "$1"
  mkdir -p "$(dirname "$1")"
  mkfifo "$1"
}

head_at() { printf 'ref: %s\n' "$1" >"$own_git/HEAD"; }

# Commits the branch's files and empty files of these names, which git add would refuse on some system.
commit_names() {
  blob=$(git hash-object -w --stdin </dev/null)
  {
    git ls-tree HEAD
    for name in "$@"; do printf '100644 blob %s\t%s\n' "$blob" "$name"; done
  } | commit_entries
  git read-tree HEAD && git checkout-index --all --force
}

# Lines as of git ls-tree. Git neither looks for the objects nor at the names.
commit_entries() {
  tree=$(git mktree --missing) || exit 1
  git update-ref HEAD "$(git commit-tree "$tree" -p HEAD -m "feat: $title")"
}

# ---- an honest agent: it mostly waits, as for a model

honest() {
  sleep "$seconds"
  work one "$title, one"
  sleep "$seconds"
  work two "$title, two"
}

# ---- HEAD, branches and refs

head_on_main() {
  head_at refs/heads/main
  echo evil >evil.txt
  git add evil.txt
}

head_on_another_task() {
  work
  other=$(git for-each-ref --format='%(refname)' 'refs/heads/cp-*' | grep -v "$COPSE_WORKTREE_BRANCH" | head -n 1)
  head_at "${other:-refs/heads/persons}"
  echo evil >evil.txt
}

head_in_a_loop() {
  work
  echo 'ref: refs/heads/loop-b' >"$shared_git/refs/heads/loop-a"
  echo 'ref: refs/heads/loop-a' >"$shared_git/refs/heads/loop-b"
  head_at refs/heads/loop-a
}

branch_in_a_loop() {
  work
  printf 'ref: refs/heads/%s\n' "$COPSE_WORKTREE_BRANCH" >"$shared_git/refs/heads/$COPSE_WORKTREE_BRANCH"
}

renames_its_branch() {
  work
  git branch --move "renamed-$COPSE_TASK_ID"
}

switches_branch() {
  git switch --quiet --create "switched-$COPSE_TASK_ID"
  work
}

moves_main() {
  work
  git update-ref refs/heads/main HEAD
}

deletes_its_objects() {
  work
  id=$(git rev-parse "HEAD:work/$COPSE_TASK_ID/file.txt")
  rm -f "$shared_git/objects/$(printf %s "$id" | cut -c 1-2)/$(printf %s "$id" | cut -c 3-)"
}

deletes_its_commit() {
  work
  id=$(git rev-parse HEAD)
  rm -f "$shared_git/objects/$(printf %s "$id" | cut -c 1-2)/$(printf %s "$id" | cut -c 3-)"
}

leaves_locks() {
  work
  : >"$own_git/index.lock"
  : >"$own_git/HEAD.lock"
  : >"$shared_git/refs/heads/$COPSE_WORKTREE_BRANCH.lock"
}

locks_all_refs() {
  work
  : >"$shared_git/packed-refs.lock"
  : >"$shared_git/packed-refs.new"
}

reverts_others() {
  work
  git merge --quiet --strategy=ours --message 'chore: take main' main
}

# ---- what git would run

plants_config() {
  shell="echo \"\${COPSE_TASK_ID:-copse} \$*\" >>'$fired'"
  printf '#!/bin/sh\n%s\n' "$shell" >"$notes/planted"
  chmod +x "$notes/planted"
  for hook in post-checkout pre-push post-merge post-rewrite reference-transaction post-index-change; do
    cp "$notes/planted" "$shared_git/hooks/$hook"
  done
  for key in core.fsmonitor core.sshCommand core.pager core.editor core.askPass diff.external credential.helper \
    filter.evil.clean filter.evil.smudge filter.evil.process merge.evil.driver diff.evil.textconv gpg.program \
    uploadpack.packObjectsHook alias.rev-parse alias.status; do
    git config "$key" "$notes/planted"
  done
  git config core.attributesFile "$notes/attributes"
  echo '*.evil filter=evil merge=evil diff=evil' >"$notes/attributes"
  cp "$notes/attributes" "$shared_git/info/attributes"
  cp "$notes/attributes" .gitattributes
  # Not fsmonitor any more: the git of the honest agents would run it.
  git config --unset core.fsmonitor
  git add .gitattributes
  work
}

plants_replacement() {
  work
  git replace --force "$(git rev-parse HEAD~1)" "$(git commit-tree "HEAD^{tree}" -m 'chore: replaced')"
  printf '%s\n' "$(git rev-parse HEAD)" >"$shared_git/info/grafts"
}

# ---- files that decide what Copse runs

lands_power() {
  mkdir -p .cursor .conductor node_modules/@anthropic-ai/sandbox-runtime/dist
  run="echo \"landed file ran\" >>'$fired'"
  printf '{"setup-worktree": ["%s"]}' "$(printf %s "$run" | sed 's/"/\\"/g')" >.cursor/worktrees.json
  printf '{"scripts": {"setup": "%s"}}' "$(printf %s "$run" | sed 's/"/\\"/g')" >conductor.json
  printf '[scripts]\nsetup = """%s"""\n' "$run" >.conductor/settings.toml
  printf '[submodule "evil"]\n\tpath = evil\n\turl = ext::sh -c %%S\n' >.gitmodules
  echo 'secrets.txt' >.worktreeinclude
  echo '{"name": "@anthropic-ai/sandbox-runtime", "version": "9.9.9", "main": "dist/index.js"}' \
    >node_modules/@anthropic-ai/sandbox-runtime/package.json
  echo "require('fs').appendFileSync('$fired', 'sandbox')" >node_modules/@anthropic-ai/sandbox-runtime/dist/index.js
  git add --all --force .cursor .conductor conductor.json .gitmodules .worktreeinclude node_modules
  work
}

lands_settings() {
  printf 'agnets: {}\nlanding: {checks: {evil: "echo landed check ran >>%s"}}\nworkspace: [\n' "$fired" >copse.yml
  git add copse.yml
  work
}

spoils_settings() {
  cp "$COPSE_REPO_ROOT/copse.yml" "$notes/copse.yml"
  printf '\nagnets: [\n' >>"$COPSE_REPO_ROOT/copse.yml"
  work
  copse stuck --reason 'Which way?'
  sleep 1
  cp "$notes/copse.yml" "$COPSE_REPO_ROOT/copse.yml"
}

# ---- named pipes in the place of files

pipe_as_ignore_file() {
  work
  pipe_at .gitignore
}
pipe_in_a_folder() {
  work
  pipe_at sub/.gitignore
}
pipe_as_attributes() {
  work
  pipe_at .gitattributes
}
pipe_as_git_file() {
  work
  pipe_at .git
}
pipe_as_head() {
  work
  pipe_at "$own_git/HEAD"
}
pipe_as_index() {
  work
  pipe_at "$own_git/index"
}
pipe_as_log() {
  work
  pipe_at "$own_git/logs/HEAD"
  pipe_at "$shared_git/logs/refs/heads/$COPSE_WORKTREE_BRANCH"
}
pipe_as_branch() {
  work
  pipe_at "$shared_git/refs/heads/$COPSE_WORKTREE_BRANCH"
}
pipe_as_other_ref() {
  work
  pipe_at "$shared_git/refs/heads/waits"
  pipe_at "$shared_git/refs/copse/waits"
}
pipe_as_packed_refs() {
  work
  pipe_at "$shared_git/packed-refs"
  # The git of others may wait for it already when Copse removes it.
  git for-each-ref >/dev/null 2>&1 || :
}
pipe_as_alternates() {
  work
  pipe_at "$shared_git/objects/info/alternates"
}
pipe_as_report() {
  work
  pipe_at .copse/session.json
}
pipe_as_orders() {
  work
  for file in "$COPSE_REPO_ROOT/.copse/attempts/$COPSE_ATTEMPT_ID"*.json; do pipe_at "$file"; done
  pipe_at "$COPSE_RUNNER_FOLDER/session.json"
  pipe_at .copse/session-prompt.md
  pipe_at AGENT_CONTEXT.md
}

# ---- more than a machine can hold

# 10^9 paths in nine trees of ten entries each.
path_bomb() {
  ten() { for at in 0 1 2 3 4 5 6 7 8 9; do printf "$1 %s\t%s\n" "$2" "$at"; done | git mktree; }
  tree=$(ten '100644 blob' "$(echo x | git hash-object -w --stdin)")
  for _ in 1 2 3 4 5 6 7 8; do tree=$(ten '040000 tree' "$tree"); done
  git update-ref HEAD "$(git commit-tree "$tree" -p HEAD -m 'feat: bomb')"
}

sparse_file() {
  work
  truncate -s 300G huge.bin
  exit 1
}

deep_folders() {
  work
  perl -e 'for (1 .. 30) { mkdir "0" x 200 or die; chdir "0" x 200 or die } open(F, ">deep.txt") or die; print F "deep"'
  exit 1
}

huge_report() {
  work
  truncate -s 5G .copse/session.json
}

endless_output() {
  yes 'endless output of an agent' | head -c 300M
  work
}

# ---- names and objects that a plain checkout refuses

name_of_git_folder() { commit_names 'git~1' || :; }
long_name() { commit_names "$(printf '%0300d' 0)" || :; }
two_cases() { commit_names Readme readme; }
two_accents() { commit_names "$(printf 'e\314\201.txt')" "$(printf '\303\251.txt')"; }
colon_in_a_name() { commit_names a:b; }

same_name_twice() {
  echo x >zz
  bytes=$(git hash-object -w zz | sed 's/../\\x&/g')
  {
    git cat-file tree 'HEAD^{tree}'
    for _ in 1 2; do env printf "100644 zz\\0$bytes"; done
  } >"$notes/$COPSE_TASK_ID.tree"
  tree=$(git hash-object -w -t tree --literally "$notes/$COPSE_TASK_ID.tree")
  git update-ref HEAD "$(git commit-tree "$tree" -p HEAD -m 'feat: twice')"
  git add zz
}

# ---- commands, texts and processes

uses_commands_of_people() {
  work
  for argv in "add evil --accept 'echo accepted >>$fired'" "export $notes/exported --force" 'config accept' \
    "review $COPSE_TASK_ID" "merge $COPSE_TASK_ID" 'queue pause' "cancel $COPSE_TASK_ID" "cleanup $COPSE_TASK_ID --force"; do
    eval "copse $argv" >>"$notes/commands" 2>&1 && printf 'allowed: %s\n' "$argv" >>"$fired"
  done
  env >"$notes/environment"
}

# Thousands would only take longer: all after the first few are refused.
adds_tasks() {
  work
  # More than an agent may add; two of them run, and no agent can take the rest.
  for at in $(seq 22); do
    if [ "$at" -le 2 ]; then copse add "more $at"; else copse add "rest $at" --requires nothing-here; fi
  done >"$notes/added" 2>&1 || :
}

texts_that_do_things() {
  git commit --quiet --allow-empty --message "$(printf 'feat: \033]0;evil\007 <!channel> @everyone\n\nCloses #1\nTask: cp-0000\n')"
  work
  copse stuck --reason "$(printf '\033[2J\033]0;evil\007 <!channel> <https://evil.invalid|click> $(touch %s) Closes #1' "$fired")"
}

# The number is looked for at the end.
outlives_its_attempt() {
  work
  setsid sh -c 'sleep 864213 & exec sleep 864213' </dev/null >/dev/null 2>&1 &
  nohup sleep 864213 </dev/null >/dev/null 2>&1 &
  (cd / && exec setsid sleep 864213 </dev/null >/dev/null 2>&1) &
  tmux -L "hostile-$COPSE_TASK_ID" new-session -d 'exec sleep 864213' 2>/dev/null
  sleep 0.2
}

does_not_end() {
  work
  trap '' TERM INT HUP
  printf '{"status": "finished"}' >.copse/session.json
  while :; do sleep 1; done
}

links_elsewhere() {
  work
  rm -rf .copse AGENT_CONTEXT.md
  mkdir "$notes/elsewhere"
  ln -s "$notes/elsewhere" .copse
  ln -s "$notes/victim" AGENT_CONTEXT.md
}

# Git overwrites ignored files: a checkout of this would replace the board.
brings_a_board() {
  rm -rf .copse
  ln -s "$notes" .copse
  git add --force .copse
  work
}

closes_its_folders() {
  work
  mkdir -p closed/inside
  echo uncommitted >closed/inside/file.txt
  chmod 000 closed/inside closed
  chmod 000 "$own_git/index"
}

removes_its_worktree() {
  work
  rm -rf "$own_git"
  cd / && rm -rf "$COPSE_WORKTREE_PATH"
}

cancelled_while_it_lands() { work; }
