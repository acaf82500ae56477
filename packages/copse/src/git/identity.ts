/** The author of a commit: the person or agent that runs Copse, by git's usual settings; without those, Copse itself. */

import { tryGit, type TrustedDir } from './process.ts';

const COPSE = { name: 'Copse', email: 'copse@localhost' } as const;

export async function identityEnv(dir: TrustedDir): Promise<Readonly<Record<string, string>>> {
  const [name = COPSE.name, email = COPSE.email] = await Promise.all([
    personalSetting(dir, 'user.name'),
    personalSetting(dir, 'user.email'),
  ]);
  const said = (variable: string, otherwise: string): string => {
    const value = process.env[variable]?.trim();
    return value === undefined || value === '' ? otherwise : value;
  };
  return {
    GIT_AUTHOR_NAME: said('GIT_AUTHOR_NAME', name),
    GIT_AUTHOR_EMAIL: said('GIT_AUTHOR_EMAIL', email),
    GIT_COMMITTER_NAME: said('GIT_COMMITTER_NAME', name),
    GIT_COMMITTER_EMAIL: said('GIT_COMMITTER_EMAIL', email),
  };
}

/** Of the person's settings for all repositories. Those of the repository are not read: agents can write them. */
export async function personalSetting(dir: TrustedDir, name: string): Promise<string | undefined> {
  const { code, stdout } = await tryGit(dir, ['config', '--global', name], { isNetwork: true });
  const value = stdout.toString().trim();
  return code === 0 && value !== '' ? value : undefined;
}
