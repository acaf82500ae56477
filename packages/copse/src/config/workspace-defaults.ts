/**
 * The defaults of `workspace`. Apart from the schema, so that a repository without a copse.yml need not load it.
 */
import { defaultPolicy } from '../kernel/policy.ts';

export function workspaceDefaults() {
  const { workspace, naming, finish, landing } = defaultPolicy;
  return {
    strategy: workspace.strategy,
    worktree_dir: naming.worktreeDir,
    branch_pattern: naming.branchPattern,
    fetch_before_setup: workspace.fetchBeforeSetup,
    push_on_success: workspace.pushOnSuccess,
    create_pr: workspace.createPr,
    cleanup_on_failure: workspace.cleanupOnFailure,
    commit_message: finish.commitMessage,
    on_push_failure: landing.onPushFailure,
    share_work: workspace.shareWork,
    copy: new Array<string>(),
    link: new Array<string>(),
    command_timeout: workspace.commandTimeoutMs,
    pool: workspace.pool,
  };
}
