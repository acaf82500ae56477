// How the house is divided: files per folder, the share of imports that cross from one room to another, and the names of
// types. Prints what it counted and fails past the limits.
//
// - The kernel is no room: it is the vocabulary that all rooms share.
// - Imports of the surfaces (compose, operations, library, cli, demo, the entry points) are counted apart: calling rooms is their work.

import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = path.join(root, 'packages', 'copse', 'src');

const MOST_FILES = 15;
const MOST_BETWEEN_ROOMS = 0.2;

const SURFACES = new Set(['compose', 'operations', 'library', 'cli', 'demo', '']);

/** Folders that may hold more, each with its reason. */
const EXCEPTIONS = {};

const problems = [...checkFolders(), ...checkImports(), ...checkNames()];
for (const problem of problems) console.log(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function checkFolders() {
  const counts = new Map();
  for (const top of ['packages/copse/src', 'packages/web/src', 'test', 'bench', 'scripts']) {
    for (const file of filesIn(path.join(root, top))) {
      const folder = path.posix.join(top, path.posix.dirname(file));
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
  }
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
  const fullest = sorted.slice(0, 3).map(([folder, count]) => `${folder} ${count}`);
  console.log(
    `files per folder: ${counts.size} folders, the fullest ${fullest.join(', ')} (limit ${MOST_FILES})`,
  );
  for (const [folder, { reason }] of Object.entries(EXCEPTIONS))
    console.log(`  exception ${folder}: ${reason}`);
  return sorted
    .filter(([folder, count]) => count > (EXCEPTIONS[folder]?.most ?? MOST_FILES))
    .map(([folder, count]) => `${folder} has ${count} files: divide it along an idea`);
}

function checkImports() {
  const imports = filesIn(sources).flatMap((file) => importsOf(file).map((to) => [roomOf(file), roomOf(to)]));
  const crossing = imports.filter(([from, to]) => from !== to);
  const toKernel = crossing.filter(([, to]) => to === 'kernel').length;
  const fromSurfaces = crossing.filter(([from, to]) => to !== 'kernel' && SURFACES.has(from)).length;
  const between = (crossing.length - toKernel - fromSurfaces) / imports.length;
  const share = (part) => `${((100 * part) / imports.length).toFixed(1)} %`;
  console.log(
    `imports: ${imports.length}; ${(100 * between).toFixed(1)} % between rooms (limit ${100 * MOST_BETWEEN_ROOMS} %); besides, ${share(toKernel)} of the kernel, ${share(fromSurfaces)} by compose, operations, library, cli and demo`,
  );
  if (between <= MOST_BETWEEN_ROOMS) return [];
  return ['Too many imports cross from one room to another: move files to where they are used'];
}

/** The name of an exported type means one thing in the whole house. Names that stay in their file may repeat. */
function checkNames() {
  const declared = Map.groupBy(filesIn(sources).flatMap(typesOf), ({ name }) => name);
  const exported = [...declared.values()].filter((places) => places.some(({ isExported }) => isExported));
  console.log(`types: ${exported.length} exported names (each is declared once)`);
  return exported
    .filter((places) => places.length > 1)
    .map((places) => {
      const files = places.map(({ file }) => file).join(' and ');
      return `The type ${places[0].name} is declared in ${files}: name all but one after what they are`;
    });
}

function typesOf(file) {
  const text = readFileSync(path.join(sources, file), 'utf8');
  const pattern = /^(export )?(?:declare )?(?:abstract )?(?:type|interface|class|enum) (\w+)/gm;
  return [...text.matchAll(pattern)].map(([, exports, name]) => ({
    name,
    file,
    isExported: Boolean(exports),
  }));
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((file) => !/(^|\/)node_modules\/|^guards\/canary\//.test(file));
}

function importsOf(file) {
  const text = readFileSync(path.join(sources, file), 'utf8');
  return [
    ...text.matchAll(/^(?:import|export)\b[^;']*?from '(\.[^']+\.ts)'|\bimport\('(\.[^']+\.ts)'\)/gm),
  ].map(([, fixed, lazy]) => path.posix.join(path.posix.dirname(file), fixed ?? lazy));
}

/** Entry points are in none. */
function roomOf(file) {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : '';
}
