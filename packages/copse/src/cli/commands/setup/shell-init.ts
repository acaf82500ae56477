import { shells } from '../../completion.ts';
import { fail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';

/**
 * The function replaces `copse switch` only: everything else, and `copse switch` with an option, goes to the program. The
 * folder is data in a variable; no text is evaluated.
 */
const posix = `copse() {
  if [ "\${1-}" != switch ] || [ "$#" -gt 2 ]; then
    command copse "$@"
    return
  fi
  case "\${2-}" in
    -*) command copse "$@"; return ;;
  esac
  local copse_folder
  copse_folder="$(command copse "$@")" || return
  if [ -n "$copse_folder" ]; then
    builtin cd "$copse_folder"
  fi
}
`;

const fish = `function copse --wraps copse
  if test "$argv[1]" != switch; or test (count $argv) -gt 2; or string match -q -- '-*' "$argv[2]"
    command copse $argv
    return
  end
  set -l copse_folder (command copse $argv)
  or return
  test -n "$copse_folder"; and builtin cd "$copse_folder"
end
`;

export async function run({ cli, words }: Invocation): Promise<void> {
  const shell = shells.find((known) => known === words[0]);
  if (shell === undefined)
    return fail(
      'invalid',
      `The shell must be one of ${shells.join(', ')}, not "${words[0] ?? ''}".`,
      'copse shell-init bash',
    );
  await cli.output.raw(shell === 'fish' ? fish : posix);
}
