#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# shellcheck disable=SC2016 # words of the shells inside
# UNIX sockets where a rule asks: connect and bind by path.

load common
load answering

setup() {
    sessions_setup
    PLACE=$(mktemp -d /tmp/bawn-place.XXXXXX)
    chmod 777 "$PLACE"
    bare=(-q --profile none --rw "$PWD" --ro /usr --ro /bin --ro /lib --ro /lib64 --ro /etc)
    mkdir -p .bawn sub
    printf 'sandbox:\n  ask: ["sub"]\n' >.bawn/policy.yaml
    # Outside: says what it is asked for on each, and writes down who was there.
    cat >"$BATS_TEST_TMPDIR/serve.py" <<'EOF'
import os, select, socket, sys
heard = {}
for path in sys.argv[2:]:
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    os.chmod(path, 0o777)
    s.listen(8)
    heard[s.fileno()] = (s, path)
d = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
d.bind(sys.argv[2] + ".datagram")
os.chmod(sys.argv[2] + ".datagram", 0o777)
heard[d.fileno()] = (d, "datagram")
open(sys.argv[1], "w").close()
while True:
    for s in select.select(list(heard), [], [])[0]:
        sock, path = heard[s]
        with open(sys.argv[1], "a") as log:
            log.write(path + "\n")
        if path == "datagram":
            sock.recv(100)
            continue
        connection = sock.accept()[0]
        connection.send(b"hello")
        connection.close()
EOF
    cat >call.py <<'EOF'
import os, socket, sys
how, path = sys.argv[1:]
try:
    if how == "connect":
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        print(s.recv(100).decode(), os.path.basename(s.getpeername()))
    elif how == "bind":
        s = socket.socket(socket.AF_UNIX)
        s.bind(path)
        print("bound")
    elif how == "own":
        s = socket.socket(socket.AF_UNIX)
        s.bind(path)
        s.listen()
        c = socket.socket(socket.AF_UNIX)
        c.settimeout(5)
        c.connect(path)
        s.accept()[0].send(b"own")
        print(c.recv(10).decode())
    elif how == "tcp":
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        s.listen()
        c = socket.create_connection(s.getsockname(), 5)
        s.accept()[0].send(b"tcp")
        print(c.recv(10).decode())
        try:
            socket.create_connection(("127.0.0.1", 1), 5)
        except ConnectionRefusedError:
            print("refused")
    elif how == "abstract":
        s = socket.socket(socket.AF_UNIX)
        s.bind("\0" + path)
        s.listen()
        c = socket.socket(socket.AF_UNIX)
        c.connect("\0" + path)
        print("abstract")
    elif how == "datagram":
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.sendto(b"x", path)
        print("sent")
    elif how == "pair":
        s = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]
        s.sendto(b"x", path)
        print("sent")
except OSError as e:
    sys.exit(os.strerror(e.errno))
EOF
    python3 "$BATS_TEST_TMPDIR/serve.py" "$BATS_TEST_TMPDIR/heard" "$PLACE/one" "$PLACE/two" "$PWD/sub/s" 3>&- &
    server=$!
    for _ in {1..100}; do
        [[ -e $BATS_TEST_TMPDIR/heard ]] && break
        sleep 0.05
    done
}

teardown() {
    kill "$server" 2>/dev/null || true
    answering_teardown
    rm -rf "$PLACE"
    sessions_teardown
}

@test "sockets: to connect where a rule asks takes a yes" {
    run -2 "$BAWN" check -q connect "unix:$PWD/sub/s"
    run -1 "$BAWN" run -q -- python3 call.py connect sub/s
    [[ $output == *"Permission denied" ]]
    run -1 "$BAWN" run "${bare[@]}" --ask "$PLACE" -- python3 call.py connect "$PLACE/one"
    [[ $output == *"Permission denied" ]]
    [ ! -s "$BATS_TEST_TMPDIR/heard" ]
    answer deny "{op: write, path: \"$PLACE/one\", answer: allow, scope: once}" \
        "{op: write, path: \"$PWD/sub/*\", answer: allow, scope: once}"
    run -0 "$BAWN" run "${bare[@]}" --ask "$PLACE" -- python3 call.py connect "$PLACE/one"
    [ "$output" = "hello one" ]
    run -1 "$BAWN" run "${bare[@]}" --ask "$PLACE" -- python3 call.py connect "$PLACE/two"
    run -0 "$BAWN" run -q -- python3 call.py connect sub/s
    [ "$output" = "hello s" ]
    # By a link, which has another name.
    ln -s "$PLACE/two" link
    run -1 "$BAWN" run "${bare[@]}" --ask "$PLACE" -- python3 call.py connect link
    [ "$(sort "$BATS_TEST_TMPDIR/heard")" = "$(printf '%s\n' "$PLACE/one" "$PWD/sub/s" | sort)" ]
}

@test "sockets: dynamic: those that nobody listed cannot be connected to, and check says so" {
    answer allow
    run -1 "$BAWN" check "${bare[@]}" --reads dynamic connect "unix:$PLACE/one"
    run -1 "$BAWN" run "${bare[@]}" --reads dynamic -- python3 call.py connect "$PLACE/one"
    [[ $output == *"Permission denied" ]]
    [ ! -s "$BATS_TEST_TMPDIR/heard" ]
    # A listed one can.
    run -0 "$BAWN" run "${bare[@]}" --reads dynamic --set "sandbox.network.unix_sockets=$PLACE/one" -- \
        python3 call.py connect "$PLACE/one"
    [ "$output" = "hello one" ]
}

@test "sockets: datagrams need no connection, so there are none where a rule asks" {
    for how in datagram pair; do
        run -1 "$BAWN" run "${bare[@]}" --ask "$PLACE" -- python3 call.py "$how" "$PLACE/one.datagram"
        [[ $output == *"Operation not permitted" ]]
    done
    [ ! -s "$BATS_TEST_TMPDIR/heard" ]
}

@test "sockets: to bind where a rule asks takes a yes" {
    run -1 "$BAWN" run -q -- python3 call.py bind sub/new
    [ ! -e sub/new ]
    answer deny "{op: write, path: \"$PWD/sub/new\", answer: allow, scope: once}"
    run -0 "$BAWN" run -q -- python3 call.py bind sub/new
    [ -S sub/new ]
    run -1 "$BAWN" run -q -- python3 call.py bind sub/other
}

@test "sockets: the sandbox's own are as ever, and so is TCP" {
    run -0 "$BAWN" run -q -- python3 call.py own "$PWD/own"
    [ "$output" = own ]
    run -0 "$BAWN" run -q -- python3 call.py own /tmp/own
    [ "$output" = own ]
    run -0 "$BAWN" run -q -- python3 call.py tcp x
    [ "$output" = $'tcp\nrefused' ]
    run -0 "$BAWN" run -q -- python3 call.py abstract "bawn-$$"
    [ "$output" = abstract ]
}

@test "sockets: who waits for room at a server can be interrupted and killed, and others go on" {
    cat >wait.py <<'EOF'
import os, signal, socket, subprocess, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind("full")
s.listen(0)
c = [socket.socket(socket.AF_UNIX) for _ in range(3)]
c[0].connect("full")
signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(InterruptedError()))
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    c[1].connect("full")
    print("connected")
except InterruptedError:
    print("interrupted")
child = subprocess.Popen([sys.executable, "-c", "import socket; socket.socket(socket.AF_UNIX).connect('full')"])
time.sleep(0.5)
open("/tmp/other", "w").close()
print("goes on")
child.kill()
print(child.wait())
EOF
    run -0 timeout 30 "$BAWN" run -q -- python3 wait.py
    [ "$output" = $'interrupted\ngoes on\n-9' ]
}
