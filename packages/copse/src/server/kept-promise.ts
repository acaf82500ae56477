/** Makes something once, at its first use. What failed is made again by the next use: the failure may have passed. */
export function keptPromise<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return async () => {
    const making = (kept ??= make());
    try {
      return await making;
    } catch (error) {
      if (kept === making) kept = undefined;
      throw error;
    }
  };
}
