/** The last output of a terminal, at offsets that count every byte since it was opened. Its memory is allocated once. */

export class OutputBuffer {
  readonly #ring: Buffer;
  #start = 0;
  #end = 0;

  constructor(bytes: number) {
    this.#ring = Buffer.alloc(bytes);
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  append(bytes: Uint8Array): void {
    const size = this.#ring.length;
    const kept = bytes.subarray(Math.max(0, bytes.length - size));
    const at = (this.#end + bytes.length - kept.length) % size;
    this.#ring.set(kept.subarray(0, size - at), at);
    this.#ring.set(kept.subarray(size - at), 0);
    this.#end += bytes.length;
    this.#start = Math.max(this.#start, this.#end - size);
  }

  /** An unknown number of bytes is missing here: all that is kept is forgotten, and the offset grows by one. */
  skip(): void {
    this.#end += 1;
    this.#start = this.#end;
  }

  /** A copy; the caller asks only for what is kept. */
  read(from: number, mostBytes: number): Buffer {
    const size = this.#ring.length;
    const length = Math.min(this.#end - from, mostBytes);
    const at = from % size;
    const first = this.#ring.subarray(at, Math.min(size, at + length));
    return Buffer.concat([first, this.#ring.subarray(0, length - first.length)]);
  }
}
