export { parse } from '../ports/parses-yaml.ts';
