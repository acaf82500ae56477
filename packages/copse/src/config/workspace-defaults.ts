/**
 * What holds for workspaces where copse.yml says nothing. Apart from the schema, which fills it in: a repository without a
 * copse.yml is spared loading that.
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
    copy: new Array<string>(),
    link: new Array<string>(),
    command_timeout: workspace.commandTimeoutMs,
    pool: workspace.pool,
  };
}
