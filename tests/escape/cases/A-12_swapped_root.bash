# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-12 a workspace that is swapped for a symbolic link while it starts is mounted as what was checked
# layers: launch
# no mutant: the set-up mounts the workspace by the descriptor that was checked, and no build of it does otherwise
# seconds: 90
source "$ESCAPE/lib.bash"

# The swap is below the workspace's parent: what the launcher checked is $T/proj or, if the link was
# there then, $OUT; inside, the directory must be the one that it says it is.
mkdir "$T/proj" "$T/third"
echo proj >"$T/proj/mark"
echo out >"$OUT/mark"
plant "$T/third/file"
ln -s "$OUT" "$T/link"
before=$(witness "$T/third")
"$BIN/swap" "$T/proj" "$T/link" >"$T/swaps" &
swapper=$!
at_end "kill $swapper"
started=0
for ((i = 0; i < 300; i++)); do
    STATUS=0
    said=$(timeout 10 "$BAWN" run -C "$T/proj" -- /bin/sh -c 'echo x 2>/dev/null >../third/file; echo "$(pwd -P) $(cat mark)"' 2>"$T/stderr") || STATUS=$?
    case "$STATUS $said" in
    "0 $T/proj proj" | "0 $OUT out") started=$((started + 1)) ;;
    0*) escaped "start $i: it says '$said'" ;;
    125*) grep -q '^bawn: ' "$T/stderr" || broken "start $i: no word why" ;;
    # The place was a link when the policy was read, and is not shown: there is no directory to be in.
    127*) grep -q '^bawn: ' "$T/stderr" || broken "start $i: status 127: $(head -n1 "$T/stderr")" ;;
    *) broken "start $i: status $STATUS: $said $(head -n1 "$T/stderr")" ;;
    esac
done
kill "$swapper"
wait "$swapper"
CHECKED=$((CHECKED + 300))
echo "# note: $started of 300 started, against $(cut -d' ' -f1 "$T/swaps") swaps"
((started > 0)) || broken "no start at all"
unchanged "$before" "$T/third"

# Slowly: what was remembered of the link is nothing to the directory that is there later.
mkdir "$T/aside"
mv "$T/proj" "$T/link" "$T/aside"
where() {
    "$BAWN" run -C "$T/later" -- /bin/sh -c 'pwd -P' 2>"$T/stderr"
}
ln -s "$OUT" "$T/later"
is "$OUT" "$(where)" "where it runs when the workspace is a link"
rm "$T/later"
mkdir "$T/later"
equal "$T/later" "$(where)" "where it runs when a directory took the link's place"
rmdir "$T/later"
ln -s "$T/aside" "$T/later"
equal "$T/aside" "$(where)" "where it runs when another link took its place"
