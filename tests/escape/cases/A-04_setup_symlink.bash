# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-04 a symbolic link on the way to a mount point leads the set-up nowhere outside
# not: nested, the outer sandbox meets the race first
# layers: launch
# no mutant: the set-up opens each mount point without links, and no build of it does otherwise
# seconds: 90
source "$ESCAPE/lib.bash"
export SANDBOX_SECONDS=10

mkdir -p "$OUT/victim/hooks" "$OUT/empty"
plant "$OUT/victim/hooks/kept"
plant "$OUT/victim/config"
chmod -R a+rwX "$OUT"
before=$(witness "$OUT")
# still TARGETS...: after a start, nothing of the outside is made, changed, or open for writing.
still() {
    sandbox "$@" -- "$BIN/try" <<END
append $OUT/victim/config
sys creat s:$OUT/empty/new 0644
sys creat s:.git/hooks/new 0644
sys creat s:.vscode/new 0644
sys creat s:sub/deep/new 0644
sys mkdir s:$WS/own$RANDOM 0755
END
    CHECKED=$((CHECKED + 1))
    ((STATUS == 0 || STATUS == 125)) || broken "status $STATUS: $(head -n2 "$T/stderr")"
    unchanged "$before" "$OUT"
}
ln -s "$OUT/victim" "$WS/.git"
ln -s "$OUT/empty" "$WS/.vscode"
ln -s ../out/empty "$WS/sub"
still
still --protect "$WS/sub/deep" --deny "$WS/sub/secret"
still --ro "$WS/sub/deep"
still --private "$WS/sub/place"
attempts <<END
ENOENT append $OUT/victim/config
any    sys creat s:.git/hooks/new 0644
END
unchanged "$before" "$OUT"

# Swapped while it starts: 300 times, or as often as there is time for.
rm -f "$WS/.git" "$WS/sub"
mkdir -p "$WS/.git/hooks" "$WS/sub/deep"
plant "$WS/.git/config"
ln -s "$OUT/victim" "$WS/link1"
ln -s "$OUT/empty" "$WS/link2"
"$BIN/swap" "$WS/.git" "$WS/link1" >"$T/swaps" &
first=$!
"$BIN/swap" "$WS/sub" "$WS/link2" >/dev/null &
second=$!
at_end "kill $first $second"
refused=0
began=$SECONDS
for ((i = 0; i < 300 && SECONDS - began < 40; i++)); do
    sandbox --protect "$WS/sub/deep/x" --ro "$WS/sub/deep" -- /bin/sh -c 'echo x >.git/hooks/new; echo x >sub/deep/new; echo x >sub/new' 2>/dev/null
    case $STATUS in
    125) refused=$((refused + 1)) ;;
    124 | 137 | 139) broken "status $STATUS at start $i" ;;
    esac
done
kill "$first" "$second"
wait "$first" "$second"
echo "# note: $i starts against $(cut -d' ' -f1 "$T/swaps") swaps, $refused refused"
((i >= 30)) || broken "only $i starts"
((refused < i)) || broken "no start at all"
unchanged "$before" "$OUT"
