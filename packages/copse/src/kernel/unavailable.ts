/** Something that a command needs cannot be used: the board, the repository. The message is for a person. */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable';
  /** What the person can do about it. */
  readonly remedy: string;
  readonly isMissing: boolean;
  /** The same may succeed later: a git that failed, an object that another process is writing. */
  readonly mayPass: boolean = false;
  /** See `BeyondLimits`. */
  readonly isBeyondLimits: boolean = false;

  constructor(
    message: string,
    remedy: string,
    options: ErrorOptions & { readonly isMissing?: boolean } = {},
  ) {
    super(message, options);
    this.remedy = remedy;
    this.isMissing = options.isMissing ?? false;
  }
}

/**
 * A file, worktree or branch that an agent can write cannot be read within the limits of the policy. Trying again does not
 * help: it is for a person to look at, and concerns nothing but the task it belongs to.
 */
export class BeyondLimits extends Unavailable {
  override readonly name: string = 'BeyondLimits';
  override readonly isBeyondLimits = true;
}

export function isBeyondLimits(error: unknown): error is Unavailable {
  return error instanceof Unavailable && error.isBeyondLimits;
}
