# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-60 a file that comes in as a stream to write is written to, and neither read nor changed otherwise
# layers: fds
# seconds: 60
source "$ESCAPE/lib.bash"

# said FILE [OPTION]... -- COMMAND...: as sandbox, with standard output at the end of FILE. What the
# command could get hold of it says on standard error.
said() {
    local file=$1
    shift
    STATUS=0
    timeout -k 2 20 "$BAWN" run -C "$WS" --ro "$BIN" "$@" >>"$file" 2>"$T/stderr" </dev/null ||
        STATUS=$?
    CHECKED=$((CHECKED + 1))
    ! grep -q canary "$T/stderr" || escaped "$file was read: $*"
}

# What has no reader by a name has none by a descriptor either, in any spelling; a pipe that is opened
# to be read has nothing to say.
ways=('timeout 1 cat "$1" 3>&1 >&2' 'exec 5<>"$1" && timeout 1 cat <&5 >&2'
    'timeout 1 dd if="$1" bs=64 count=1 iflag=nonblock 3>&1 >&2')
for way in "${ways[@]}"; do
    for path in /proc/self/fd/3 /dev/fd/3 /proc/thread-self/fd/3; do
        plant "$OUT/log" canary
        said "$OUT/log" -- sh -c "exec 3>&1; $way" - "$path"
        equal canary "$(cat "$OUT/log")" "the log after $way"
    done
done

# Nor is it cut off, moved about in, or given another mode. A pipe may refuse, or take it for its own.
plant "$OUT/log" canary
mode=$(stat -c %a "$OUT/log")
for way in ': >/proc/self/fd/1' 'truncate -s 0 /proc/self/fd/1' 'chmod 640 /proc/self/fd/1' \
    'dd if=/dev/zero bs=1 count=3 conv=notrunc of=/proc/self/fd/1 oflag=nonblock seek=0 | true'; do
    said "$OUT/log" -- sh -c "$way"
done
equal "canary $mode" "$(head -n1 "$OUT/log" | tr -d '\0') $(stat -c %a "$OUT/log")" "the log"

# Where the workspace is no answer: denied in it, gone from it, never anywhere.
plant "$WS/secret.log" canary
said "$WS/secret.log" --deny "$WS/secret.log" -- sh -c 'timeout 1 cat /proc/self/fd/3 3>&1 >&2'
plant "$WS/some.hidden" canary
said "$WS/some.hidden" --deny '**/*.hidden' -- sh -c 'timeout 1 cat /proc/self/fd/3 3>&1 >&2'
plant "$T/gone" canary
exec 6<"$T/gone"
exec 7>>"$T/gone"
rm "$T/gone"
STATUS=0
"$BAWN" run -C "$WS" -- sh -c 'timeout 1 cat /proc/self/fd/3 3>&1 >&2; echo said' >&7 2>"$T/stderr" ||
    STATUS=$?
! grep -q canary "$T/stderr" || escaped "a file without a name was read"
is "canary said" "$(paste -sd' ' - <&6)" "a file without a name"
exec 6<&- 7>&-

# By standard error, and by standard input, too.
plant "$OUT/log" canary
STATUS=0
"$BAWN" run -C "$WS" -- sh -c 'timeout 1 cat /proc/self/fd/2' 2>>"$OUT/log" >"$T/stdout" || STATUS=$?
! grep -q canary "$T/stdout" || escaped "by standard error"
"$BAWN" run -C "$WS" -- sh -c 'timeout 1 cat /proc/self/fd/0' 0>>"$OUT/log" >"$T/stdout" || STATUS=$?
! grep -q canary "$T/stdout" || escaped "by standard input"

# A command that joins later. (Nested, the outer sandbox would end before it comes.)
if [[ -z ${BAWN_TEST_NESTED:-} ]]; then
    plant "$OUT/log" canary
    mkdir -m 700 "$T/run"
    export XDG_RUNTIME_DIR=$T/run
    sid=$("$BAWN" run -C "$WS" --detach -- sleep 60 2>"$T/stderr") || broken "$(cat "$T/stderr")"
    at_end "'$BAWN' stop '$sid'"
    "$BAWN" exec "$sid" -- sh -c 'timeout 1 cat /proc/self/fd/3 3>&1 >&2; echo said' >>"$OUT/log" \
        2>"$T/joined"
    ! grep -q canary "$T/joined" || escaped "by exec"
    is "canary said" "$(paste -sd' ' "$OUT/log")" "what exec said"
fi

# What the caller gave to be read too is read; what the policy lets it write comes in itself.
plant "$OUT/log" canary
"$BAWN" run -C "$WS" -- sh -c 'cat <&1 >&2' 1<>"$OUT/log" 2>"$T/stderr"
is canary "$(cat "$T/stderr")" "a file to read and to write"
plant "$WS/log" canary
"$BAWN" run -C "$WS" -- sh -c 'cat /proc/self/fd/3 3>&1 >&2' >>"$WS/log" 2>"$T/stderr"
is canary "$(cat "$T/stderr")" "a file of the workspace"
