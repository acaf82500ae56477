/**
 * Bytes with memory of their own, for bytes that are kept for long and no longer change. Node takes small buffers out of a
 * slab of 64 KB, which lives as long as any of them: a cache of small buffers would hold many times its size.
 */
export function alone(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
