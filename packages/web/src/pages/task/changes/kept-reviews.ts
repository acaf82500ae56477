/**
 * What a browser keeps about reviews. Several tabs share it, so a change is always made to what is stored now; and nothing that a
 * person wrote is given up before marks of viewed files are.
 */

import type { LineComment } from '../../../../../copse/src/review/rules/line-comments.ts';
import type { LinePlace } from './places.ts';

export interface Draft {
  readonly id: string;
  /** The commit whose line it is. */
  readonly head: string;
  /** The commit that it was compared with. */
  readonly from?: string;
  readonly comment: LineComment;
}

/** A comment that is written now. */
export interface OpenComment {
  readonly place: LinePlace;
  /** Its form stays where it was opened while another line is typed. */
  readonly anchor: LinePlace;
  readonly head: string;
  readonly from: string;
  readonly text: string;
}

export interface KeptReview {
  /** Content key by path: a file that changed is not viewed any more. */
  readonly viewed: Readonly<Record<string, string>>;
  readonly drafts: readonly Draft[];
  readonly comment: string;
  readonly open: OpenComment | null;
}

const NOTHING: KeptReview = { viewed: {}, drafts: [], comment: '', open: null };
const PREFIX = 'copse.review.';

type ReviewStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

export class KeptReviews {
  readonly #storage: () => ReviewStorage;
  readonly #known = new Map<string, { readonly text: string | null; readonly kept: KeptReview }>();
  /** The browser took it no more: it lasts as long as this tab. */
  readonly #unsaved = new Map<string, KeptReview>();

  constructor(storage: () => ReviewStorage) {
    this.#storage = storage;
  }

  /** The same object as long as it says the same. */
  read(task: string): KeptReview {
    const unsaved = this.#unsaved.get(task);
    if (unsaved !== undefined) return unsaved;
    const text = this.#stored(PREFIX + task);
    const known = this.#known.get(task);
    if (known?.text === text) return known.kept;
    const kept = keptIn(text);
    this.#known.set(task, { text, kept });
    return kept;
  }

  change(task: string, how: (now: KeptReview) => Partial<KeptReview>): void {
    const now = this.read(task);
    const next = { ...now, ...how(now) };
    const text = isNothing(next) ? null : JSON.stringify(next);
    if (this.#store(PREFIX + task, text)) {
      this.#unsaved.delete(task);
      this.#known.set(task, { text, kept: next });
    } else this.#unsaved.set(task, next);
  }

  isSaved(task: string): boolean {
    return !this.#unsaved.has(task);
  }

  #stored(key: string): string | null {
    try {
      return this.#storage().getItem(key);
    } catch {
      return null;
    }
  }

  #store(key: string, text: string | null): boolean {
    if (this.#try(key, text)) return true;
    for (const other of this.#otherKeys(key))
      if (!hasText(keptIn(this.#stored(other)))) this.#try(other, null);
    return this.#try(key, text);
  }

  #try(key: string, text: string | null): boolean {
    try {
      if (text === null) this.#storage().removeItem(key);
      else this.#storage().setItem(key, text);
      return true;
    } catch {
      return false;
    }
  }

  #otherKeys(key: string): readonly string[] {
    try {
      const storage = this.#storage();
      return Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? '').filter(
        (other) => other.startsWith(PREFIX) && other !== key,
      );
    } catch {
      return [];
    }
  }
}

/** What was sent goes; what was added or changed meanwhile stays. */
export function withoutSent(
  now: KeptReview,
  sent: Pick<KeptReview, 'drafts' | 'comment'>,
): Partial<KeptReview> {
  const ids = new Set(sent.drafts.map(({ id }) => id));
  return {
    drafts: now.drafts.filter(({ id }) => !ids.has(id)),
    comment: now.comment === sent.comment ? '' : now.comment,
  };
}

export function withoutDraft(now: KeptReview, id: string): Partial<KeptReview> {
  return { drafts: now.drafts.filter((draft) => draft.id !== id) };
}

/** The comment that is written now becomes a draft. */
export function withAdded(now: KeptReview, id: string): Partial<KeptReview> {
  const { open, drafts } = now;
  if (open === null || open.text.trim() === '') return {};
  const { head, from, text } = open;
  const { path, line, endLine, side } = open.place;
  const comment = { path, line, ...(endLine !== line && { endLine }), side, text };
  return { drafts: [...drafts, { id, head, from, comment }], open: null };
}

/** What another version wrote may have another shape. */
function keptIn(text: string | null): KeptReview {
  try {
    const { viewed, drafts, comment, open } = JSON.parse(text ?? '{}') as Partial<KeptReview>;
    return {
      viewed: viewed ?? {},
      drafts: Array.isArray(drafts) ? drafts : [],
      comment: comment ?? '',
      open: open ?? null,
    };
  } catch {
    return NOTHING;
  }
}

function isNothing(kept: KeptReview): boolean {
  return !hasText(kept) && Object.keys(kept.viewed).length === 0;
}

function hasText({ drafts, comment, open }: KeptReview): boolean {
  return drafts.length > 0 || comment !== '' || open !== null;
}
