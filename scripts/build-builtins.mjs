// A bundler plugin: an import of one of Node's own modules costs a command nothing until it uses it.
//
//   import { readFileSync } from 'node:fs'   makes Node read every export of the module, and with that load its
//                                            streams, promises and more: 5 ms of a start that takes 25
//   process.getBuiltinModule('node:fs')      reads the one property
//
// So the second is what a bundle has. A module that Node has not loaded for itself (crypto: 6 ms) is loaded by the
// first call of one of its functions; its classes and constants load it at once.

import { isBuiltin } from 'node:module';

import { parseSync } from 'rolldown/utils';

/** Loaded before the first line of a program runs. */
const LOADED = new Set(['buffer', 'events', 'fs', 'module', 'path', 'process', 'timers', 'url', 'util']);

const PROMISIFIED = `Symbol.for('nodejs.util.promisify.custom')`;
const REQUIRED = '\0required ';

/** Faster parts that ws looks for, in whatever folder they may be; it goes on without them. */
const LEFT_OUT = new Set(['bufferutil', 'utf-8-validate']);

export function cheapBuiltins() {
  return {
    name: 'cheap-builtins',
    transform(code, id) {
      if (!/\bfrom\s*['"]/.test(code) || id.startsWith('\0')) return undefined;
      const imports = parseSync(id, code).program.body.filter(isImportOfBuiltin).toReversed();
      if (imports.length === 0) return undefined;
      let text = code;
      for (const { start, end, specifiers, source } of imports) {
        // As many lines as before, so that stack traces and maps name the right ones.
        const lines = code.slice(start, end).replaceAll(/[^\n]/g, '');
        text = text.slice(0, start) + declare(specifiers, nameOf(source)) + lines + text.slice(end);
      }
      return { code: text, map: null };
    },
    resolveId(source, _importer, { kind }) {
      if (kind !== 'require-call') return undefined;
      if (LEFT_OUT.has(source)) return REQUIRED + source;
      return isBuiltin(source) ? REQUIRED + source.replace(/^node:/, '') : undefined;
    },
    load(id) {
      if (!id.startsWith(REQUIRED)) return undefined;
      const name = id.slice(REQUIRED.length);
      return LEFT_OUT.has(name)
        ? `throw new Error('${name} is left out');`
        : `module.exports = ${loaded(name)};`;
    },
  };
}

function isImportOfBuiltin({ type, importKind, source }) {
  return type === 'ImportDeclaration' && importKind !== 'type' && isBuiltin(source.value);
}

function nameOf({ value }) {
  return value.replace(/^node:/, '');
}

function loaded(name) {
  return `globalThis.process.getBuiltinModule('node:${name}')`;
}

function declare(specifiers, name) {
  return specifiers
    .filter(({ importKind }) => importKind !== 'type')
    .map(({ type, imported, local }) => {
      const key = type === 'ImportSpecifier' ? imported.name : 'default';
      return `const ${local.name} = ${key === 'default' ? whole(name) : valueOf(name, key)};`;
    })
    .join(' ');
}

function whole(name) {
  if (LOADED.has(name)) return loaded(name);
  const later = `{ get: (_, key) => ${loaded(name)}[key], apply: (_, self, args) => ${loaded(name)}(...args) }`;
  return `/* @__PURE__ */ new Proxy(() => {}, ${later})`;
}

function valueOf(name, key) {
  const value = `${loaded(name)}.${key}`;
  const known = process.getBuiltinModule(`node:${name}`)?.[key];
  if (LOADED.has(name) || !/^[a-z]/.test(key) || typeof known !== 'function') return value;
  const later = `(...args) => ${value}(...args)`;
  if (known[Symbol.for('nodejs.util.promisify.custom')] === undefined) return later;
  return `Object.assign(${later}, { [${PROMISIFIED}]: (...args) => ${value}[${PROMISIFIED}](...args) })`;
}
