# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-31 that further names of something hidden cannot be known, for its directory is closed, is told
# layers: launch
# no mutant: it is about a warning, which holds nothing
source "$ESCAPE/lib.bash"

plant "$WS/dir/denied" private
plant "$WS/whole/file" private
# From inside, as an earlier command would.
sandbox -- /bin/sh -c 'ln dir/denied one && ln whole/file two && chmod 000 dir whole'
sandbox_ran
sandbox --deny "$WS/dir/denied" --deny "$WS/whole" -- true
sandbox_ran
# Nothing is closed to root.
equal "$(($(id -u) ? 2 : 0))" "$(grep -c 'bawn cannot look at' "$T/stderr")" "warnings"
chmod u+rwX "$WS/dir" "$WS/whole"
sandbox --deny "$WS/dir/denied" --deny "$WS/whole" -- cat one two
equal "" "$(<"$T/stdout")" "what was read by the other names"
equal 0 "$(grep -c 'bawn cannot look at' "$T/stderr")" "warnings where all is open"
