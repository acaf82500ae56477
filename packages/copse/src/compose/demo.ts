/** The repository of the demo. */

export { drawHistory, makeRepository } from '../git/directory/new-repository.ts';
