# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-09 a file that comes in as a stream to read is not written, wherever on the host it lies
# layers: notify
source "$ESCAPE/lib.bash"

# Its path names a place of the sandbox's own, which may be written.
plant "$OUT/input"
before=$(witness "$OUT")
for path in /dev/stdin /proc/self/fd/0 /proc/thread-self/fd/0; do
    for way in 'echo escaped >"$1"' 'echo escaped >>"$1"' 'exec 5<>"$1"; echo escaped >&5' \
        'truncate -s 0 "$1"'; do
        sandbox -- sh -c "$way" - "$path" <"$OUT/input"
        ((STATUS != 0)) || escaped "$way with $path"
    done
done
# A link that the command makes there leads from outside to the very file.
sandbox -- sh -c 'mkdir -p "${1%/*}" && ln -s "$1" "$1" && echo escaped >/dev/stdin' - "$OUT" \
    <"$OUT/input"
((STATUS != 0)) || escaped "by a link that names itself"
unchanged "$before" "$OUT"

# What has no name any more, or never had one, is not written either.
for way in ': >/proc/self/fd/0' 'echo escaped >>/dev/stdin' 'exec 5<>/proc/self/fd/0; echo escaped >&5' \
    'truncate -s 0 /proc/self/fd/0'; do
    plant "$T/gone" nameless
    exec 8<"$T/gone" 9<"$T/gone"
    rm "$T/gone"
    sandbox -- sh -c "$way" <&8
    ((STATUS != 0)) || escaped "$way without a name"
    equal nameless "$(cat <&9)" "what was read after $way"
done
exec 8<&- 9<&-
# Its own the command writes as it likes.
sandbox -- sh -c 'exec 3>own; rm own; echo one >&3; echo two >>/proc/self/fd/3; cat /proc/self/fd/3'
sandbox_ran
is "one two" "$(paste -sd' ' "$T/stdout")" "a nameless file of its own"

# What came in to be written is written by its name, too; by root's command only where anybody may.
chmod 666 "$T/stdout"
sandbox -- sh -c 'echo one >/dev/stdout; echo two >>/proc/self/fd/1' <"$OUT/input"
sandbox_ran
is "one two" "$(paste -sd' ' "$T/stdout")" "what was written by the name of a stream"
