export { pack } from './objects/packs.ts';
