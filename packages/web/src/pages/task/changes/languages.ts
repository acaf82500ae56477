/** Stands in for `shiki/langs`: the languages that are highlighted. Files of others are shown as text. */

type Loader = () => Promise<{ readonly default: unknown }>;

const loaders: Readonly<Record<string, Loader>> = {
  c: () => import('@shikijs/langs/c'),
  clojure: () => import('@shikijs/langs/clojure'),
  csharp: () => import('@shikijs/langs/csharp'),
  css: () => import('@shikijs/langs/css'),
  dart: () => import('@shikijs/langs/dart'),
  diff: () => import('@shikijs/langs/diff'),
  docker: () => import('@shikijs/langs/docker'),
  elixir: () => import('@shikijs/langs/elixir'),
  go: () => import('@shikijs/langs/go'),
  html: () => import('@shikijs/langs/html'),
  ini: () => import('@shikijs/langs/ini'),
  java: () => import('@shikijs/langs/java'),
  json: () => import('@shikijs/langs/json'),
  kotlin: () => import('@shikijs/langs/kotlin'),
  lua: () => import('@shikijs/langs/lua'),
  make: () => import('@shikijs/langs/make'),
  markdown: () => import('@shikijs/langs/markdown'),
  php: () => import('@shikijs/langs/php'),
  python: () => import('@shikijs/langs/python'),
  ruby: () => import('@shikijs/langs/ruby'),
  rust: () => import('@shikijs/langs/rust'),
  scala: () => import('@shikijs/langs/scala'),
  scss: () => import('@shikijs/langs/scss'),
  sql: () => import('@shikijs/langs/sql'),
  terraform: () => import('@shikijs/langs/terraform'),
  toml: () => import('@shikijs/langs/toml'),
  tsx: () => import('@shikijs/langs/tsx'),
  xml: () => import('@shikijs/langs/xml'),
  yaml: () => import('@shikijs/langs/yaml'),
  zsh: () => import('@shikijs/langs/shellscript'),
};

export const bundledLanguages = loaders;

/** A language whose grammar is large is shown by the one of a similar language. */
const similar: Readonly<Record<string, string>> = {
  cpp: 'c',
  javascript: 'tsx',
  jsx: 'tsx',
  typescript: 'tsx',
  jsonc: 'json',
  less: 'css',
  vue: 'html',
};

/** The language by which a file is highlighted. */
export function highlightedAs(language: string): string {
  const name = similar[language] ?? language;
  return Object.hasOwn(loaders, name) ? name : 'text';
}
