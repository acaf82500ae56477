/** The end of an act in the middle, as a kill would end it but inside this process. */

class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** To be called at every step: throws at the one that is named. */
export function interruptAt(step: string): (reached: string) => void {
  return (reached) => {
    if (reached === step) throw new Interrupted(step);
  };
}

/** True when it did not come to its end. */
export async function isInterrupted(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return false;
  } catch (error) {
    if (error instanceof Interrupted) return true;
    throw error;
  }
}
