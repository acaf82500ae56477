import { fileURLToPath } from 'node:url';

import react from '@vitejs/plugin-react';
import { type Plugin, defineConfig } from 'vite';

import { operations } from '../copse/src/operations/registry.ts';
import { jsonSchemaOf } from '../copse/src/operations/shapes/json-schema.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

export default defineConfig({
  root: here,
  logLevel: 'error',
  plugins: [react(), describedOperations(), destroyingOperations(), operationForms(), smallHighlighter()],
  worker: { format: 'es', plugins: () => [smallHighlighter({ isWorker: true })] },
  // The router's stand-in for older versions of React.
  resolve: { alias: { 'use-sync-external-store/shim/index.js': 'react' } },
  css: { modules: { localsConvention: 'camelCaseOnly' } },
  build: {
    emptyOutDir: true,
    manifest: true,
    target: 'es2024',
    modulePreload: { polyfill: false },
    // A file as data: in a style or script would be inline, which the policy of the page refuses for scripts.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
    // Rules and the kernel only declare: what no page uses is left out with all that it imports.
    rolldownOptions: {
      treeshake: { moduleSideEffects: (id) => !id.includes('/packages/copse/src/') },
      // Small files that most pages share are one file: it compresses better. Without the parts of buttons and dialogs, which the
      // first paint of the board does not need.
      output: {
        codeSplitting: {
          groups: [
            {
              name: 'shared',
              test: /\/packages\/(copse\/src|web\/src\/parts\/(?!(act|ask-first|dialog|perform|task-operations)\.))/,
              minShareCount: 6,
            },
          ],
        },
      },
    },
  },
});

/** `virtual:operations`: what the page needs of the registry to call every operation, and no code of it. */
function describedOperations(): Plugin {
  const id = 'virtual:operations';
  return {
    name: 'copse-operations',
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    load(source) {
      if (source !== `\0${id}`) return undefined;
      const described = operations
        .filter(({ callers }) => callers.includes('person'))
        .map(({ name, effect, creates, http: { method, path } }) => ({
          name,
          method,
          path,
          creates,
          // Every page loads this table: the words of the question are in `virtual:destroying`.
          destroys: effect === 'destroys' ? true : undefined,
        }));
      return `export default ${JSON.stringify(described)};`;
    },
  };
}

/** `virtual:destroying`: what a person reads before an operation that destroys. Loaded with the first button. */
function destroyingOperations(): Plugin {
  const id = 'virtual:destroying';
  return {
    name: 'copse-destroying',
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    load(source) {
      if (source !== `\0${id}`) return undefined;
      const described = operations
        .filter(({ callers, effect }) => callers.includes('person') && effect === 'destroys')
        .map(({ name, title, undo }) => [name, { title: `${title}?`, text: undo }]);
      return `export default ${JSON.stringify(described)};`;
    },
  };
}

/** `virtual:operation-forms`: what the palette needs to ask for the input of every operation. Loaded with the palette. */
function operationForms(): Plugin {
  const id = 'virtual:operation-forms';
  return {
    name: 'copse-operation-forms',
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    async load(source) {
      if (source !== `\0${id}`) return undefined;
      const described = operations
        .filter(({ callers }) => callers.includes('person'))
        .map(async ({ name, title, description, effect, undo, shape }) => {
          const { properties = {}, required = [] } = jsonSchemaOf((await shape()).input, 'input');
          return { name, title, description, effect, undo, properties, required };
        });
      return `export default ${JSON.stringify(await Promise.all(described))};`;
    },
  };
}

/**
 * Of the highlighter in diffs only what the dashboard uses: some 30 languages, two themes, and no WebAssembly, which the policy
 * of the page refuses. Its worker gets languages and themes from the page.
 */
function smallHighlighter({ isWorker = false } = {}): Plugin {
  const none = '\0none';
  const languages = fileURLToPath(new URL('src/pages/task/changes/languages.ts', import.meta.url));
  return {
    name: 'copse-small-highlighter',
    enforce: 'pre',
    async resolveId(source, importer) {
      if (source === 'shiki/langs') return isWorker ? none : languages;
      if (UNUSED.test(source) || (isWorker && source === '@pierre/theming/themes')) return none;
      const smaller = SMALLER[source];
      return smaller !== undefined && importer?.includes('@shikijs/langs')
        ? this.resolve(smaller, importer)
        : undefined;
    },
    load: (id) => (id === none ? NOTHING : undefined),
    // A grammar asks by name for those that it embeds.
    transform(code, id) {
      if (!/@shikijs[\\/]langs[\\/]dist[\\/]/.test(id)) return undefined;
      const smaller = (names: string) =>
        names.replaceAll(/\w+/g, (name) => SMALLER[`./${name}.mjs`]?.slice(2, -4) ?? name);
      return { code: code.replace(/(?<=\\"embeddedLangs\\":\[)[^\]]*/, smaller), map: null };
    },
  };
}

const UNUSED =
  /^(shiki\/(wasm|engine\/oniguruma)|@pierre\/highlights\/.*|\.\/(backends\/)?highlights(-\w+)?\.js|@shikijs\/themes\/(?!github-(light|dark)-high-contrast).*|@pierre\/theme\/.*)$/;

/** Grammars that embed another large one get a similar one that is there already. */
const SMALLER: Readonly<Record<string, string>> = {
  './cpp.mjs': './c.mjs',
  './javascript.mjs': './tsx.mjs',
  './jsx.mjs': './tsx.mjs',
  './typescript.mjs': './tsx.mjs',
};

const NOTHING =
  'export const HighlightsHighlighter = undefined, createOnigurumaEngine = undefined, bundledLanguages = {}, themes = {}; export default undefined;';
