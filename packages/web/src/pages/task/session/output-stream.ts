/**
 * The output of one attempt, over a WebSocket of its own that is closed with the part of the page that shows it.
 *
 *   ticket → open → opened → output, screens, gaps … → ended | refused
 *
 * After a cut it goes on from the last offset; what it did not get then comes as a gap. Frames: server/output/frames.ts.
 */

import type { ProblemCode } from '../../../../../copse/src/server/rules/problem.ts';
import type { Client } from '../../../api/client.ts';

export type OutputView = 'log' | 'terminal';

export interface WantedOutput {
  readonly task: string;
  readonly attempt: string;
  readonly view: OutputView;
  /** From the first byte; otherwise a log begins near its end. */
  readonly isWhole?: boolean;
}

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly drawing: Uint8Array;
}

export interface Refusal {
  readonly code: ProblemCode;
  readonly reason: string;
  readonly next: readonly string[];
}

export interface OutputListener {
  /** `at`: the offset of the first byte that can come. */
  readonly onOpen: (at: number) => void;
  readonly onOutput: (bytes: Uint8Array) => void;
  /** Replaces all that was shown before. */
  readonly onScreen?: (screen: Screen) => void;
  /** Null: it is unknown how many bytes are missing. */
  readonly onGap: (bytes: number | null) => void;
  /** Nothing more comes. */
  readonly onEnd: (reason: string) => void;
  /** It cannot be shown. */
  readonly onRefused: (refusal: Refusal) => void;
  /** It is retried. */
  readonly onAway: () => void;
  /** An input did not reach the agent. */
  readonly onInputRefused?: (refusal: Refusal) => void;
}

type Frame =
  | { readonly kind: 'opened'; readonly stream: string | null; readonly at: number }
  | {
      readonly kind: 'screen';
      readonly stream: string;
      readonly at: number;
      readonly columns: number;
      readonly rows: number;
      readonly drawing: string;
    }
  | { readonly kind: 'gap'; readonly from: number; readonly to: number | null }
  | { readonly kind: 'ended'; readonly reason: string }
  | ({ readonly kind: 'refused'; readonly id?: number } & Refusal)
  | { readonly kind: 'typed' };

const OFFSET_BYTES = 8;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
const ANSWER_WITHIN_MS = 60_000;
const NOT_CONNECTED: Refusal = {
  code: 'unavailable',
  reason: 'There is no connection to the server: nothing was typed.',
  next: [],
};

export class OutputStream {
  readonly #client: Client;
  readonly #wanted: WantedOutput;
  readonly #listener: OutputListener;
  #socket: WebSocket | undefined;
  #position: { stream: string | null; at: number } | undefined;
  #inputs = 0;
  #tries = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #state: 'running' | 'held' | 'over' = 'running';

  constructor(client: Client, wanted: WantedOutput, listener: OutputListener) {
    this.#client = client;
    this.#wanted = wanted;
    this.#listener = listener;
    void this.#connect();
  }

  close(): void {
    this.#leave('over');
  }

  /** The page is behind: what comes meanwhile is not sent. */
  hold(): void {
    if (this.#state === 'running') this.#leave('held');
  }

  goOn(): void {
    if (this.#state !== 'held') return;
    this.#state = 'running';
    void this.#connect();
  }

  /** The server asks the board before it passes this on. */
  type(text: string): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) {
      this.#listener.onInputRefused?.(NOT_CONNECTED);
      return;
    }
    this.#inputs += 1;
    this.#socket.send(JSON.stringify({ kind: 'type', id: this.#inputs, text }));
  }

  #leave(state: 'held' | 'over'): void {
    this.#state = state;
    clearTimeout(this.#retry);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  async #connect(): Promise<void> {
    try {
      const ticket = await this.#client.ticket(AbortSignal.timeout(ANSWER_WITHIN_MS));
      if (this.#state === 'running') this.#open(ticket);
    } catch {
      this.#later();
    }
  }

  #open(ticket: string): void {
    const { task, attempt, view, isWhole = false } = this.#wanted;
    const address = new URL(`/api/v1/tasks/${encodeURIComponent(task)}/output`, location.href);
    address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const from = this.#position ?? (isWhole ? { stream: null, at: 0 } : undefined);
    address.search = new URLSearchParams({
      ticket,
      view,
      attempt,
      ...(from && { from: String(from.at) }),
      ...(from?.stream != null && { stream: from.stream }),
    }).toString();
    const socket = new WebSocket(address);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    // What a socket says that was left is of no interest.
    socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (this.#socket !== socket) return;
      if (typeof data === 'string') this.#take(JSON.parse(data) as Frame);
      else this.#takeOutput(data);
    });
    socket.addEventListener('close', () => {
      if (this.#socket === socket) this.#later();
    });
  }

  #take(frame: Frame): void {
    switch (frame.kind) {
      case 'opened':
        this.#tries = 0;
        this.#position = { stream: frame.stream, at: frame.at };
        this.#listener.onOpen(frame.at);
        return;
      case 'screen':
        this.#position = { stream: frame.stream, at: frame.at };
        this.#listener.onScreen?.({ ...frame, drawing: bytesOf(frame.drawing) });
        return;
      case 'gap':
        this.#listener.onGap(frame.to === null || frame.to < frame.from ? null : frame.to - frame.from);
        return;
      case 'ended':
        this.#leave('over');
        this.#listener.onEnd(frame.reason);
        return;
      case 'refused':
        if (frame.id !== undefined) return this.#listener.onInputRefused?.(frame);
        this.#leave('over');
        this.#listener.onRefused(frame);
        return;
      case 'typed':
        return;
      default:
        // Of a newer server.
        frame satisfies never;
    }
  }

  #takeOutput(frame: ArrayBuffer): void {
    const at = Number(new DataView(frame).getBigUint64(0));
    const bytes = new Uint8Array(frame, OFFSET_BYTES);
    this.#position = { stream: this.#position?.stream ?? null, at: at + bytes.length };
    this.#listener.onOutput(bytes);
  }

  #later(): void {
    this.#socket = undefined;
    if (this.#state !== 'running') return;
    this.#listener.onAway();
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#tries);
    this.#tries += 1;
    this.#retry = setTimeout(() => void this.#connect(), wait);
  }
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (letter) => letter.codePointAt(0) ?? 0);
}
