/**
 * The frames of a page that shows the output of a session. Text frames are JSON with `kind`. A binary frame is output: eight
 * bytes with the offset of its first byte (big-endian), then the bytes.
 */

import type { Refusal } from '../../kernel/decision.ts';
import type { OutputGap, OutputNews } from './source.ts';

const OFFSET_BYTES = 8;

function outputFrame(at: number, bytes: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(OFFSET_BYTES + bytes.length);
  frame.writeBigUInt64BE(BigInt(at));
  frame.set(bytes, OFFSET_BYTES);
  return frame;
}

export function newsFrames(news: Exclude<OutputNews, { kind: 'stopped' }>): readonly OutputFrame[] {
  switch (news.kind) {
    case 'output':
      return [{ data: outputFrame(news.at, news.bytes), isBinary: true }];
    case 'screen': {
      const { drawing, gap, ...rest } = news;
      const screen = { ...rest, drawing: Buffer.from(drawing).toString('base64') };
      return [...(gap === null ? [] : [gapFrame(gap)]), textFrame(screen)];
    }
    case 'gap':
      return [gapFrame(news)];
    case 'ended':
      return [textFrame(news)];
    default:
      throw new Error(`There is no news ${String(news satisfies never)}`);
  }
}

export interface OutputFrame {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

function gapFrame({ from, to }: OutputGap): OutputFrame {
  return textFrame({ kind: 'gap', from, to });
}

export function textFrame(document: object): OutputFrame {
  return { data: Buffer.from(JSON.stringify(document)), isBinary: false };
}

/** `id` is the input that was refused; absent: the page itself is. */
export function refusedFrame({ code, reason, next }: RefusedInput, id?: number): OutputFrame {
  return textFrame({ kind: 'refused', ...(id !== undefined && { id }), code, reason, next });
}

export interface RefusedInput extends Pick<Refusal, 'reason'> {
  readonly code: string;
  readonly next: readonly string[];
}

/** Undefined for anything that is no input. */
export function parseTyped(text: string): { readonly id: number; readonly text: string } | undefined {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { kind, id, text: typed, ...others } = (read ?? {}) as Readonly<Record<string, unknown>>;
  const isInput = kind === 'type' && typeof typed === 'string' && Object.keys(others).length === 0;
  return isInput && Number.isSafeInteger(id) ? { id: id as number, text: typed } : undefined;
}
