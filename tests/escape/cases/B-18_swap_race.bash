# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-18 a directory that turns into a symbolic link and back leads no call outside
# layers: mount+notify
# seconds: 90
source "$ESCAPE/lib.bash"
export SANDBOX_SECONDS=80

mkdir -p "$T/hidden" "$WS/.claude" "$WS/plain"
chmod 777 "$T/hidden"
plant "$T/hidden/kept"
plant "$OUT/kept"
for target in "$T/hidden" "$OUT" ../out "$WS/.claude" /proc/self/root"$OUT"; do
    rm -rf "$WS/dir" "$WS/link"
    mkdir "$WS/dir"
    chmod 777 "$WS/dir"
    ln -s "$target" "$WS/link"
    before=$(witness "$T/hidden" "$OUT" "$WS/.claude")
    sandbox --ro "$OUT" -- "$BIN/race" "$WS/dir" "$WS/link" settings.json 20000 12
    sandbox_ran
    read -r swaps tries <"$T/stdout"
    ((${tries:-0} >= 500 && ${swaps:-0} >= 2000)) ||
        broken "only ${tries:-0} tries against ${swaps:-0} swaps with $target"
    echo "# note: $tries tries against $swaps swaps with ${target/$T/}"
    unchanged "$before" "$T/hidden" "$OUT" "$WS/.claude"
done
