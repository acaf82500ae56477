import { Unavailable } from '../kernel/unavailable.ts';

/** The repository cannot be used: there is none here, git cannot read it, or it is not safe to use. */
export class RepositoryUnavailable extends Unavailable {
  override readonly name = 'RepositoryUnavailable';
}
