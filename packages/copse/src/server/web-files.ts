/**
 * The files of the dashboard. They are public: whatever needs a token is asked for by the page. Only names that the folder had
 * when it was read are answered, so no path of a request ever reaches the file system.
 */

import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';

import type { FileAnswer, HttpAnswer } from './answer.ts';
import { isKnownTag } from './rules/etag.ts';
import { type FileType, contentTypeOf, isPagePath } from './rules/web.ts';

interface WebFile {
  readonly type: FileType;
  readonly bytes: Buffer;
  readonly etag: string;
}

/** Scripts only from here, none inline. Styles may be inline: the terminal and the diff write their own. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
};

/** A build gives these names that change with their content. */
const UNCHANGING = 'public, max-age=31536000, immutable';

export class WebFiles {
  readonly #folder: string;
  #files: Promise<ReadonlyMap<string, WebFile>> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Undefined: the path is of another part of the server. */
  async answer(
    segments: readonly string[],
    known: string | readonly string[] | undefined,
  ): Promise<HttpAnswer | FileAnswer | undefined> {
    const name = segments.join('/');
    const isPage = isPagePath(segments);
    if (!isPage && segments[0] !== 'assets' && name !== 'icon.svg') return undefined;
    const files = await this.#read();
    const file = files.get(isPage ? 'index.html' : name);
    if (file === undefined) return isPage ? notBuilt() : undefined;
    const { type, bytes, etag } = file;
    const cache = segments[0] === 'assets' ? UNCHANGING : 'no-cache';
    const headers = { ...PAGE_HEADERS, 'cache-control': cache, etag };
    return isKnownTag(typeof known === 'string' ? known : undefined, etag)
      ? { status: 304, type, body: Buffer.alloc(0), headers }
      : { status: 200, type, body: bytes, headers };
  }

  /** Read again while there is no page, or a build replaces the files. */
  async #read(): Promise<ReadonlyMap<string, WebFile>> {
    const reading = (this.#files ??= readFiles(this.#folder));
    let isWhole = false;
    try {
      const files = await reading;
      isWhole = files.has('index.html');
      return files;
    } finally {
      if (!isWhole && this.#files === reading) this.#files = undefined;
    }
  }
}

async function readFiles(folder: string): Promise<ReadonlyMap<string, WebFile>> {
  const names = await Promise.all(['.', 'assets'].map((part) => filesIn(folder, part)));
  const files = await Promise.all(
    names.flat().map(async (name) => {
      const bytes = await readFile(path.join(folder, name));
      const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
      return [name, { type: contentTypeOf(name), bytes, etag }] as const;
    }),
  );
  return new Map(files);
}

async function filesIn(folder: string, part: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(path.join(folder, part), { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => path.posix.join(part, name));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function notBuilt(): HttpAnswer {
  return {
    status: 503,
    type: 'text/plain',
    body: 'The dashboard is not built yet. In a clone of Copse: npm run build; then load this page again.\n',
  };
}
