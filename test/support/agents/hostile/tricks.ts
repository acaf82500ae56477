/** The tricks of tricks.sh by the title of their task, and how each may end. */

import type { TaskStatus } from '../../../../packages/copse/src/tasks/rules/task.ts';

interface Trick {
  /** More than one where it depends on who comes first, or on the rights of the user who runs the tests. */
  readonly ends: readonly TaskStatus[];
  /** Of the reason that a person is told. */
  readonly says?: RegExp;
  /** Copse commits what it leaves. */
  readonly agent?: 'committer';
  /** `npm test` has it too. */
  readonly isShort?: true;
}

const unreadable = { ends: ['needs_attention'] } as const satisfies Trick;
const unusable = { ends: ['failed'], says: /is unusable/ } as const satisfies Trick;
const harmless = { ends: ['done'] } as const satisfies Trick;
const unfit = (says: RegExp) => ({ ends: ['needs_attention'], says }) as const satisfies Trick;

export const tricks: Readonly<Record<string, Trick>> = {
  'head on main': { ...unfit(/HEAD of the worktree is on main/), agent: 'committer', isShort: true },
  'head on another task': { ...unfit(/HEAD of the worktree is on/), agent: 'committer' },
  'head in a loop': unusable,
  'branch in a loop': unusable,
  // Its own git may meet the lock that another one holds.
  'renames its branch': { ends: ['done', 'failed'] },
  'switches branch': harmless,
  'moves main': unfit(/past the queue/),
  'deletes its objects': unfit(/has no content/),
  'deletes its commit': unusable,
  'leaves locks': harmless,
  'locks all refs': { ...harmless, isShort: true },
  'reverts others': { ends: ['done', 'needs_attention'] },

  'plants config': { ...harmless, isShort: true },
  'plants replacement': harmless,
  'lands power': harmless,
  'lands settings': harmless,
  'spoils settings': { ends: ['stuck'], says: /Which way/ },

  'pipe as ignore file': { ...unreadable, says: /named pipe.*\.gitignore/, isShort: true },
  'pipe in a folder': { ...unreadable, says: /named pipe.*sub\/\.gitignore/ },
  // Git opens it only if the times of a file do not already say that the file is as committed.
  'pipe as attributes': { ends: ['needs_attention', 'done'], says: /named pipe.*\.gitattributes/ },
  'pipe as git file': unusable,
  'pipe as head': unusable,
  'pipe as index': unusable,
  'pipe as log': harmless,
  'pipe as branch': unusable,
  'pipe as other ref': harmless,
  'pipe as packed refs': harmless,
  'pipe as alternates': harmless,
  'pipe as report': harmless,
  'pipe as orders': harmless,

  'path bomb': { ...unreadable, says: /changes more than 250000 paths/, isShort: true },
  'sparse file': { ...unreadable, says: /huge\.bin, have more than \d+ bytes/, isShort: true },
  'deep folders': { ends: ['failed', 'needs_attention'] },
  'huge report': harmless,
  'endless output': harmless,

  'name of git folder': unfit(/git~1/),
  'long name': { ends: ['failed', 'needs_attention'] },
  'two cases': unfit(/one file on macOS and Windows/),
  'two accents': unfit(/one file on macOS and Windows/),
  'colon in a name': unfit(/Windows allows in no name/),
  'same name twice': unfit(/duplicateEntries|zz/),

  'uses commands of people': harmless,
  'adds tasks': harmless,
  'texts that do things': { ends: ['stuck'], says: /<!channel>/ },
  'outlives its attempt': harmless,
  'does not end': harmless,
  'links elsewhere': { ends: ['done', 'needs_attention'], agent: 'committer' },
  'brings a board': { ...unfit(/\.copse is the folder of Copse's board/), isShort: true },
  'closes its folders': { ends: ['done', 'failed', 'needs_attention'] },
  'removes its worktree': { ends: ['failed', 'needs_attention'] },
  'cancelled while it lands': { ends: ['cancelled', 'done'] },
};
