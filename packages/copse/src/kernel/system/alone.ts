/**
 * A copy with memory of its own, for bytes that are kept for long. Node takes small buffers out of a slab of 64 KB, which
 * lives as long as any of them: a cache of small buffers would hold many times its size.
 */
export function alone(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
