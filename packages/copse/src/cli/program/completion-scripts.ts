/**
 * Completion for each shell. Every script can be read twice. Words of the command line reach the program as they are, and
 * what it answers is only shown or inserted: nothing is evaluated.
 */

const bash = `# Completion of copse for bash.
_copse_complete() {
  local line value about
  local -a values=() labels=()
  while IFS= read -r line; do
    value="\${line%%$'\\t'*}"
    about="\${line#*$'\\t'}"
    values+=("$value")
    labels+=("$value\${about:+  ($about)}")
  done < <(command copse complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  # Descriptions are text of agents: they come only where bash lists words (63 ?, 33 !, 64 @), never where it inserts them.
  case "\${#values[@]} \${COMP_TYPE-}" in
    '1 '*) COMPREPLY=("\${values[@]}") ;;
    *' 63' | *' 33' | *' 64') COMPREPLY=("\${labels[@]}") ;;
    *) COMPREPLY=("\${values[@]}") ;;
  esac
}
complete -o default -F _copse_complete copse
`;

const zsh = `#compdef copse
# Completion of copse for zsh. Source it after compinit.
_copse() {
  local line
  local -a values labels
  while IFS= read -r line; do
    values+=("\${line%%$'\\t'*}")
    labels+=("\${line%%$'\\t'*}  \${line#*$'\\t'}")
  done < <(command copse complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#values} )); then
    compadd -l -d labels -a values
  else
    _files
  fi
}
if (( \${+functions[compdef]} )); then
  compdef _copse copse
fi
`;

const fish = `# Completion of copse for fish.
function __copse_complete
  set -l words (commandline -opc)
  set -l found (command copse complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c copse -e
complete -c copse -f -a '(__copse_complete)'
`;

export const completionScripts = { bash, zsh, fish } as const;
