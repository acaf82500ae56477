/** Something that a command needs cannot be used: the board, the repository. The message is for a person. */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable';
  /** What the person can do about it. */
  readonly remedy: string;
  readonly isMissing: boolean;

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
