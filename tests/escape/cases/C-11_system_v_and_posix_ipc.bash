# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-11 shared memory, semaphores and queues of the host are not there
# layers: pidns
source "$ESCAPE/lib.bash"

key=0x$(printf '%x' $((0x62000000 + RANDOM * 32768 + RANDOM)))
"$BIN/ipc" make "$key" >"$T/made"
at_end "$BIN/ipc drop $key"
is "ok ok ok ok ok" "$(cut -f1 "$T/made" | xargs)" "objects of the host"
sandbox -- "$BIN/ipc" find "$key"
sandbox_ran
mapfile -t answers <"$T/stdout"
for answer in "${answers[@]}"; do
    verdict ENOENT "${answer%%$'\t'*}" "${answer#*$'\t'}"
done
equal 5 "${#answers[@]}" "kinds of objects asked for"
# Its own ones work, and are gone with it.
sandbox -- /bin/sh -c "$BIN/ipc make $key >/dev/null; $BIN/ipc find $key"
is "ok ok ok ok" "$(grep -v mq_open "$T/stdout" | cut -f1 | xargs)" "objects of the sandbox's own"
sandbox -- "$BIN/ipc" find "$key"
equal "ENOENT ENOENT ENOENT ENOENT ENOENT" "$(cut -f1 "$T/stdout" | xargs)" "objects of another sandbox"
is "ok ok ok ok ok" "$("$BIN/ipc" find "$key" | cut -f1 | xargs)" "objects of the host afterwards"
