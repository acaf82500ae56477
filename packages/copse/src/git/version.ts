/** The installed git, and whether it is new enough. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const REQUIRED = [2, 38] as const;

export type GitVersion = { readonly required: string } & (
  | { readonly found: true; readonly version: string; readonly isNewEnough: boolean }
  | { readonly found: false }
);

export async function gitVersion(): Promise<GitVersion> {
  const required = REQUIRED.join('.');
  try {
    const { stdout } = await promisify(execFile)('git', ['--version']);
    const [, version = '', major = '0', minor = '0'] = /((\d+)\.(\d+)[\w.]*)/.exec(stdout) ?? [];
    const [wantedMajor, wantedMinor] = REQUIRED;
    const isNewEnough =
      Number(major) > wantedMajor || (Number(major) === wantedMajor && Number(minor) >= wantedMinor);
    return { required, found: true, version, isNewEnough };
  } catch {
    return { required, found: false };
  }
}
