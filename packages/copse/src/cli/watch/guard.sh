# Holds the terminal for `copse watch`, `list --watch` and `queue --watch`: guard.sh <node> <arguments of node>. See guard.ts.
node=$1
shift
if ! { [ -t 0 ] && [ -t 1 ] && [ "${TERM-}" != dumb ]; }; then exec "$node" "$@"; fi

trap 'kill -s TERM "$child"' TERM
trap 'kill -s HUP "$child"' HUP
trap : INT QUIT
# A shell without job control gives a background process no input, hence the third descriptor.
exec 3<&0
screen=${COPSE_TERMINAL_SCREEN-own}
unset COPSE_TERMINAL_SCREEN
COPSE_TERMINAL_STATE=$(stty -g) || COPSE_TERMINAL_STATE=
export COPSE_TERMINAL_STATE
# It runs all day and computes little: V8 without its compilers, and with little room for young objects.
"$node" --lite-mode --max-semi-space-size=1 "$@" <&3 3<&- &
child=$!
while :; do
  wait "$child"
  code=$?
  kill -s 0 "$child" 2>/dev/null || break
done

# A watch that a signal ended could not leave its screen. The sequences are LEAVE_SCREEN and LEAVE_LINES of sequences.ts.
if [ "$code" -ge 128 ]; then
  case $screen in
    own) printf '\033[?2026l\033[0m\033[?2004l\033[?25h\033[?1049l' ;;
    *) printf '\033[0m\033[?25h' ;;
  esac
fi
[ -z "$COPSE_TERMINAL_STATE" ] || stty "$COPSE_TERMINAL_STATE"
[ "$code" -lt 128 ] ||
  printf 'copse: this screen was ended by signal %s; tasks and agents go on.\n  → copse status\n' "$((code - 128))" >&2
exit "$code"
