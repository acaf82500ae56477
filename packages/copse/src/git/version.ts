/** The installed git, and whether it is new enough. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const REQUIRED = [2, 38] as const;

export type GitVersion = { readonly required: string } & (
  | { readonly kind: 'found'; readonly version: string; readonly isNewEnough: boolean }
  | { readonly kind: 'not_found' }
);

export async function gitVersion(): Promise<GitVersion> {
  const required = REQUIRED.join('.');
  try {
    const { stdout } = await promisify(execFile)('git', ['--version']);
    const [, version = '', major = '0', minor = '0'] = /((\d+)\.(\d+)[\w.]*)/.exec(stdout) ?? [];
    const [wantedMajor, wantedMinor] = REQUIRED;
    const isNewEnough =
      Number(major) > wantedMajor || (Number(major) === wantedMajor && Number(minor) >= wantedMinor);
    return { required, kind: 'found', version, isNewEnough };
  } catch {
    return { required, kind: 'not_found' };
  }
}
