# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-64 where nobody is left to mask what appears, the sandbox ends and says so
# layers: launch
# no mutant: the process that is ended here is no layer of the sandbox's
# not: nested
source "$ESCAPE/lib.bash"
source "$ESCAPE/late.bash"

trap "" PIPE # the sandbox is to be gone before it is asked
begin --deny secret
watcher=$(pgrep -P "$(pgrep -P "$(pgrep -P "$RUNNING")")" -f . | while read -r pid; do
    [[ $(cat "/proc/$pid/comm") != "bawn: watch" ]] || echo "$pid"
done)
[[ $watcher ]] || escaped "nobody watches"
kill -KILL "${watcher:-$RUNNING}"
soon
plant "$WS/secret" private
printf 'read %s\n' "$WS/secret" >&7 2>/dev/null
soon
exec 7>&-
wait "$RUNNING"
is "" "$(grep "^ok.*secret" "$T/stdout")" "what was read"
CHECKED=$((CHECKED + 1))
grep -q 'masks hidden names that appear has ended' "$T/stderr" || escaped "no word why: $(head -n2 "$T/stderr")"
