# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-32 a plan that is kept does not outlive what it was made from: a socket made in a tree to be read
# layers: mount
source "$ESCAPE/lib.bash"

command -v python3 >/dev/null || skip "no python3"
mkdir -p "$OUT/deep/er"
plant "$OUT/deep/er/file" text
connect='import socket, sys
try:
    socket.socket(socket.AF_UNIX).connect(sys.argv[1])
    print("connected")
except OSError as e:
    print(e.strerror)'
for _ in 1 2 3; do
    sandbox --ro "$OUT" -- cat "$OUT/deep/er/file"
    sandbox_ran
    is text "$(cat "$T/stdout")" "the tree can be read"
    sleep 0.05
done
python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
time.sleep(60)' "$OUT/deep/er/socket" &
at_end "kill $!"
wait_for 10 test -S "$OUT/deep/er/socket"
chmod 777 "$OUT/deep/er/socket"
is connected "$(python3 -c "$connect" "$OUT/deep/er/socket")" "from outside"
sandbox --ro "$OUT" -- python3 -c "$connect" "$OUT/deep/er/socket"
sandbox_ran
got=$(cat "$T/stdout")
[[ $got == "Permission denied" || $got == "Connection refused" ]] || equal refused "$got" "the socket"
