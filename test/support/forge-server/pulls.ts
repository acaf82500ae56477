/** The pull requests of one repository: a real bare one, whose branches they are about and into which they are merged. */

import { git } from '../cli.ts';

export interface Pull {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly branch: string;
  target: string;
  state: 'open' | 'closed' | 'merged';
  /** Where it was when it stopped being open. */
  lastHead: string;
  mergeCommit: string | null;
  closedBy: string | null;
  readonly reviews: { readonly user: string; readonly state: string }[];
}

export class Pulls {
  readonly all: Pull[] = [];
  readonly bare: string;

  constructor(bare: string) {
    this.bare = bare;
  }

  tip(branch: string): string | undefined {
    return git(this.bare, 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`) || undefined;
  }

  headOf(pull: Pull): string {
    return pull.state === 'open' ? (this.tip(pull.branch) ?? pull.lastHead) : pull.lastHead;
  }

  isNew(branch: string, target: string): boolean {
    return git(this.bare, 'rev-list', '--count', `refs/heads/${target}..refs/heads/${branch}`) !== '0';
  }

  openFor(branch: string): Pull | undefined {
    return this.all.find((pull) => pull.branch === branch && pull.state === 'open');
  }

  add(of: Pick<Pull, 'title' | 'body' | 'branch' | 'target'>): Pull {
    const pull: Pull = {
      ...of,
      number: this.all.length + 1,
      state: 'open',
      lastHead: this.tip(of.branch) ?? '',
      mergeCommit: null,
      closedBy: null,
      reviews: [],
    };
    this.all.push(pull);
    return pull;
  }

  only(): Pull {
    const [pull, ...others] = this.all;
    if (pull === undefined || others.length > 0)
      throw new Error(`There are ${this.all.length} pull requests`);
    return pull;
  }

  close(pull: Pull, by: string): void {
    pull.lastHead = this.headOf(pull);
    pull.state = 'closed';
    pull.closedBy = by;
  }

  reopen(pull: Pull): void {
    pull.state = 'open';
    pull.closedBy = null;
  }

  /** As a person does it there: a merge commit, or one commit with all of it. */
  merge(pull: Pull, how: 'merge' | 'squash' = 'merge'): string {
    const head = this.headOf(pull);
    const onto = this.tip(pull.target) ?? '';
    const tree = git(this.bare, 'merge-tree', '--write-tree', onto, head).split('\n', 1)[0] ?? '';
    const parents = how === 'merge' ? ['-p', onto, '-p', head] : ['-p', onto];
    const message =
      how === 'merge' ? `Merge pull request #${pull.number}` : `${pull.title} (#${pull.number})`;
    const commit = git(this.bare, 'commit-tree', tree, ...parents, '-m', message);
    git(this.bare, 'update-ref', `refs/heads/${pull.target}`, commit, onto);
    pull.lastHead = head;
    pull.state = 'merged';
    pull.mergeCommit = commit;
    return commit;
  }
}
