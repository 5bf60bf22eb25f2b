# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# G-01 no command approves itself: not by path, abstract name, inherited descriptor, loopback or a socket handed in
# layers: mount netns fds peers
# not: nested, nobody outside can be asked
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"
source "$ESCAPE/asked.bash"

supervising
asks asked.txt
# Beside them in the same directory, and by the ways that bawn does not have: somebody who listens.
[[ -d $XDG_RUNTIME_DIR/bawn ]] || mkdir -m 700 "$XDG_RUNTIME_DIR/bawn"
stand_in=$XDG_RUNTIME_DIR/bawn/stand-in name=@bawn-approve-$$
"$BIN/e_listen" "$stand_in" "$name" >"$T/reached" 2>/dev/null &
at_end "kill $!"
"$BIN/e_tcp" >"$T/reached-tcp" &
at_end "kill $!"
wait_for 5 grep -q ready "$T/reached" || broken "no listener"
wait_for 5 test -s "$T/reached-tcp" || broken "no listener on loopback"
port=$(head -n1 "$T/reached-tcp")
[[ -S $SUPERVISOR ]] || SUPERVISOR=$stand_in

# by_path VERDICT [OPTION]...: the sockets of the supervisor and of one's own session.
by_path() {
    local want=$1 running control sid=

    shift
    rm -f "$WS/paths"
    # shellcheck disable=SC2016
    SANDBOX_SECONDS=20 sandbox "$@" -- sh -c ': by-path
        i=0; while [ ! -e paths ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
        "$0/e_connect" $(cat paths); ls -A "$1"; exit 0' "$BIN" "$XDG_RUNTIME_DIR/bawn" &
    running=$!
    wait_for 8 eval 'sid=$(session_of by-path) && [[ $sid ]]' || broken "no session"
    control=$XDG_RUNTIME_DIR/bawn/${sid:-none}/control
    is yes "$([[ -S $control && -S $XDG_RUNTIME_DIR/bawn/supervisor ]] && echo yes)" "the sockets are there outside"
    echo "$SUPERVISOR" "$stand_in" "$control:seqpacket" "/proc/self/root$control:seqpacket" "$name" >"$WS/new"
    mv "$WS/new" "$WS/paths"
    wait "$running"
    answers <<END
$want $SUPERVISOR
$want $stand_in
$want $control:seqpacket
$want /proc/self/root$control:seqpacket
ECONNREFUSED $name
END
    equal 0 "$(grep -c -v $'\t' "$T/stdout")" "what is listed where they are"
}
by_path ENOENT
# Where all around is granted they are covered.
by_path EACCES --rw "$XDG_RUNTIME_DIR"
# On loopback.
sandbox -- bash -c "exec 3<>/dev/tcp/127.0.0.1/$port && echo reached; exit 0"
equal '' "$(cat "$T/stdout")" "what is reached on loopback"

# A descriptor that its parent had connected, at 9.
connected() {
    python3 -c 'import os, socket, sys
one = socket.socket(socket.AF_UNIX)
one.connect(sys.argv[1])
os.dup2(one.fileno(), 9)
os.execv(sys.argv[2], sys.argv[2:])' "$SUPERVISOR" "$BAWN" run -C "$WS" --ro "$BIN" -- "$BIN/e_fds"
}
STATUS=0
connected >"$T/stdout" 2>"$T/stderr" || STATUS=$?
sandbox_ran
answers <<<"EBADF descriptors"

# One that was granted: whoever is in a sandbox is not heard.
cat >"$WS/speak.py" <<'END'
import json, socket, sys
one = socket.socket(socket.AF_UNIX)
one.settimeout(5)
try:
    one.connect(sys.argv[1])
    print("connected", flush=True)
    one.sendall(b'{"type": "cmd.hello", "version": 1}\n')
    print("heard", len(one.recv(100)))
except OSError:
    print("heard", 0)
END
mkdir -m 700 "$WS/door"
"$BAWN" supervise --socket "$WS/door/s" >/dev/null 2>&1 &
at_end "kill -9 $!"
wait_for 10 test -S "$WS/door/s" || broken "no socket in the workspace"
as=()
[[ $(id -u) != 0 ]] || as=(--as-root) # the same user as outside: the directory lets it in
sandbox "${as[@]}" --set sandbox.network.unix_sockets="$WS/door/s" -- python3 speak.py "$WS/door/s"
sandbox_ran
is connected "$(head -n1 "$T/stdout")" "the socket that was granted"
equal "heard 0" "$(tail -n1 "$T/stdout")" "what a supervisor says to a sandbox"
is "heard yes" "$(python3 speak.py "$WS/door/s" | sed -n 's/heard [1-9].*/heard yes/p')" "what it says outside"

equal ready "$(cat "$T/reached")" "what other sockets saw"
equal "$port" "$(cat "$T/reached-tcp")" "what loopback saw"
equal no "$([[ -e $WS/asked.txt ]] && echo yes || echo no)" "what is asked about was written"
