import type { Access } from '../access.ts';
import { refuseSession } from './by-person.ts';

type Remotes = readonly { readonly name: string; readonly url: string }[];

export async function act(access: Access): Promise<Remotes> {
  refuseSession(access, 'accept remotes');
  return access.here.acceptRemotes();
}

export function view(remotes: Remotes) {
  return { remotes };
}
