# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-34 what is open for reading is not opened for writing, though its number was another's just before
# layers: notify
# seconds: 60
source "$ESCAPE/lib.bash"

# Protected further down, where no mount holds it.
plant "$WS/sub/.mcp.json"
before=$(witness "$WS/sub")
for path in "$WS/sub/.mcp.json" /dev/stdin; do
    plant "$OUT/input"
    outside=$(witness "$OUT")
    sandbox -- "$BIN/fdswap" "$path" "$WS/own" 5000 8 <"$OUT/input"
    sandbox_ran
    read -r tries opened <"$T/stdout"
    ((${tries:-0} >= 500 && ${opened:-0} >= 100)) ||
        broken "only ${opened:-0} of ${tries:-0} tries opened anything"
    echo "# note: $tries tries, $opened opened something, with ${path/$T/}"
    unchanged "$before" "$WS/sub"
    unchanged "$outside" "$OUT"
done
