// Prints the size of every document that has a limit, and fails past a limit or at a relative link that leads nowhere.

import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const LIMITS_KB = {
  'README.md': 8,
  'SECURITY.md': 12,
  'docs/ARCHITECTURE.md': 20,
  'docs/GLOSSARY.md': 10,
};

const root = fileURLToPath(new URL('..', import.meta.url));

const sizes = Object.entries(LIMITS_KB).map(([path, limitKb]) => ({
  path,
  limitKb,
  kb: statSync(join(root, path)).size / 1000,
}));
const figures = sizes.map(({ path, limitKb, kb }) => `${path} ${kb.toFixed(1)} of ${limitKb} KB`);
console.log(`documents: ${figures.join(', ')}`);

const problems = [
  ...sizes
    .filter(({ kb, limitKb }) => kb > limitKb)
    .map(({ path, kb, limitKb }) => `${path} has ${kb.toFixed(1)} KB and may have ${limitKb}.`),
  ...documents().flatMap(brokenLinks),
];
for (const problem of problems) console.log(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function documents() {
  return globSync('**/*.md', { cwd: root, exclude: ['**/node_modules', '**/dist', '**/.*'] });
}

function brokenLinks(path) {
  return linksOf(path)
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => !leadsSomewhere(path, link))
    .map((link) => `${path} links to ${link}, which does not exist.`);
}

function leadsSomewhere(path, link) {
  const [file, heading] = link.split('#');
  const target = file === '' ? path : normalize(join(dirname(path), decodeURI(file)));
  if (!existsSync(join(root, target))) return false;
  return heading === undefined || !target.endsWith('.md') || anchorsOf(target).includes(heading);
}

function linksOf(path) {
  return Array.from(prose(path).matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link);
}

/** The anchors that GitHub gives to headings. */
function anchorsOf(path) {
  return Array.from(prose(path).matchAll(/^#+ (.+)$/gm), ([, heading]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Without blocks of code, in which brackets and hashes mean something else. */
function prose(path) {
  return readFileSync(join(root, path), 'utf8').replaceAll(/^( *)```[\s\S]*?^\1```/gm, '');
}
