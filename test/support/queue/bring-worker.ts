/** A process that brings one folder into a worktree, for tests that end it without warning. */

import { bringFiles } from '../../../packages/copse/src/workspaces/files/bring-files.ts';

const [source = '', target = '', entry = ''] = process.argv.slice(2);
await bringFiles({ source, target, paths: [entry], never: [] });
