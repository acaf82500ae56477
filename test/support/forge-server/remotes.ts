/** Bare repositories that programs push to, as forges have them. */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { git } from '../cli.ts';

let remotes = 0;

/** Its address ends in `octo/trees.git`, as the forge calls it. */
export function newRemote(area: string): string {
  remotes += 1;
  const folder = path.join(area, `remote ${remotes}`, 'octo', 'trees.git');
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '--quiet', '--bare', '--initial-branch=main');
  return folder;
}

export function hook(bare: string, name: 'pre-receive' | 'post-receive', script: string): string {
  const file = path.join(bare, 'hooks', name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

/**
 * What GitLab does with push options: it opens a merge request for the branch, gives it a ref, and says where it is. The options
 * that it got are in the file that is returned, one line each.
 */
export function likeGitlab(bare: string, page: string): string {
  git(bare, 'config', 'receive.advertisePushOptions', 'true');
  const file = path.join(bare, 'options');
  hook(
    bare,
    'post-receive',
    `read -r old new ref
case "$new" in 0000*) exit 0 ;; esac
at=0
create=no
while [ "$at" -lt "\${GIT_PUSH_OPTION_COUNT:-0}" ]; do
  eval "option=\\$GIT_PUSH_OPTION_$at"
  printf '%s\\n' "$option" >> options
  [ "$option" = merge_request.create ] && create=yes
  at=$((at + 1))
done
branch=\${ref#refs/heads/}
echo ""
if [ "$create" = yes ]; then
  git update-ref refs/merge-requests/1/head "$new"
  echo "View merge request for $branch:"
  echo "  ${page}/-/merge_requests/1"
else
  echo "To create a merge request for $branch, visit:"
  echo "  ${page}/-/merge_requests/new?merge_request%5Bsource_branch%5D=$branch"
fi`,
  );
  return file;
}
