/** The repository of the demo. */

export { drawHistory, makeRepository } from '../adapters/git/new-repository.ts';
