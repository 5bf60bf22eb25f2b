# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-32 scratch places are each sandbox's own
# layers: launch
# no mutant: private places are a part of the new root; what is not granted is never there to be left in
source "$ESCAPE/lib.bash"

name=bawn-escape-$$-$RANDOM
inside='for d in /tmp /var/tmp /dev/shm; do echo secret >"$d/$1" && echo "$d"; done; echo >started; while [ ! -e go ]; do sleep 0.05; done'
(sandbox -- /bin/sh -c "$inside" sh "$name" && cp "$T/stdout" "$T/first") &
job=$!
wait_for 10 test -e "$WS/started" || broken "the first sandbox did not start"
for place in /tmp /var/tmp /dev/shm; do
    equal "" "$(ls "$place/$name" 2>/dev/null)" "the file in the host's $place"
done
mkdir "$T/ws2"
STATUS=0
"$BAWN" run -C "$T/ws2" --ro "$BIN" -- "$BIN/try" >"$T/second" <<END || STATUS=$?
read /tmp/$name
read /var/tmp/$name
read /dev/shm/$name
sys creat s:/tmp/own 0644
END
touch "$WS/go"
wait "$job"
is "/tmp /var/tmp /dev/shm" "$(xargs <"$T/first")" "places that can be written"
is 0 "$STATUS" "status of the second sandbox"
equal "ENOENT ENOENT ENOENT ok" "$(cut -f1 "$T/second" | xargs)" "what the second sandbox sees"
# Nor does it outlive the first.
attempts <<END
ENOENT read /tmp/$name
ENOENT read /var/tmp/$name
ENOENT read /dev/shm/$name
END
rm -f "/tmp/$name" "/var/tmp/$name" "/dev/shm/$name"
