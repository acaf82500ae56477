/**
 * The front door to git/objects: commits, trees and packs, read and written without starting git. No other file imports
 * from that folder. Why this code exists and what was measured: docs/decisions/0020, 0021 and 0023.
 */

export {
  type Commit,
  type NewCommit,
  asBytes,
  copseAt,
  encodeCommit,
  oneLine,
  readable,
  subjectOf,
} from './objects/commit-object.ts';
export { requireBounded } from './objects/bounds.ts';
export { readLoose } from './objects/loose.ts';
export { commitsOf, isReachable, parentsFirst } from './objects/history.ts';
export { ObjectReader, objectsOf } from './objects/object-reader.ts';
export { ObjectMissing, Objects, knownObjectsOf } from './objects/objects.ts';
export { Quarantine, isOutOfSpace } from './objects/quarantine.ts';
export { type StoreMount, layStore } from './objects/stores/layout.ts';
export { openStores, storeSteps } from './objects/stores/open.ts';
export { type TreeChange, TreeView, diffTrees } from './objects/tree-diff.ts';
export { idBytesOf, isSameEntry, pairs } from './objects/tree-pairs.ts';
export { type Entry, FOLDER, Folder, type NamedEntry, encodeEntry, entryAt } from './objects/tree-folder.ts';
