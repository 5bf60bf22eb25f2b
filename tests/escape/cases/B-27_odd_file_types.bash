# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-27 odd files where the launcher looks do not hang it, nor lead it astray
# layers: launch
# no mutant: it is about where the launcher looks, before there is any layer
source "$ESCAPE/lib.bash"

plant "$OUT/file"
before=$(witness "$OUT")
export SANDBOX_SECONDS=8
# start WHAT: it must end, with the command's success or a refusal, and contain as ever.
start() {
    sandbox -- "$BIN/try" <<<"append $OUT/file"
    CHECKED=$((CHECKED + 1))
    case $STATUS in
    0) verdict ENOENT "$(cut -f1 "$T/stdout")" "a write outside, with $1" ;;
    125) grep -q '^bawn: ' "$T/stderr" || broken "no word why, with $1" ;;
    *) broken "status $STATUS with $1" ;;
    esac
    unchanged "$before" "$OUT"
}
start "an empty workspace"
for place in .git .git/config .git/hooks .bawn .bawn/policy.yaml .bawn/local.yaml .claude \
    .claude/settings.json .bashrc .gitmodules; do
    for kind in fifo socket loop dangling outward closed device; do
        rm -rf "$WS"/.[a-z]*
        mkdir -p "$WS/$(dirname "$place")"
        case $kind in
        fifo) mkfifo "$WS/$place" ;;
        socket) python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$WS/$place" 2>/dev/null || continue ;;
        loop) ln -s "$(basename "$place")" "$WS/$place" ;;
        dangling) ln -s "$OUT/new" "$WS/$place" ;;
        outward) ln -s "$OUT" "$WS/$place" ;;
        closed) mkdir -m 000 "$WS/$place" ;;
        device) mknod "$WS/$place" c 1 5 2>/dev/null || continue ;;
        esac
        start "$kind as $place"
    done
done
chmod 700 "$WS"/.[a-z]* 2>/dev/null
rm -rf "$WS"/.[a-z]*
# Many entries, and a deep tree.
mkdir "$WS/many"
(cd "$WS/many" && seq 20000 | xargs touch)
deep=$WS
for _ in {1..100}; do deep=$deep/d; done
mkdir -p "$deep"
start "20000 files and a deep tree"
