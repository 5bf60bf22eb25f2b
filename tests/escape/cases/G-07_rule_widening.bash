# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# G-07 a yes for the session is for one path, or one host and port: a prefix, a sibling, another port is asked about again
# layers: notify asking answers netasks
# not: nested, nobody outside can be asked
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/asked.bash"

asks '"asked*"' '"dir/asked*"'
mkdir -p "$WS/dir"
# By the rules one path is allowed for the session, and one host with one port; all else is denied, once.
"$BIN/e_tcp" >"$T/one" &
at_end "kill $!"
"$BIN/e_tcp" >"$T/two" &
at_end "kill $!"
wait_for 5 test -s "$T/one" || broken "no listener"
wait_for 5 test -s "$T/two" || broken "no other listener"
one=$(head -n1 "$T/one") two=$(head -n1 "$T/two")
answering --json <<END
default: deny
rules:
- {op: write, path: "$WS/asked", answer: allow, scope: file}
- {op: connect, host: "a.example:$one", answer: allow, scope: host}
END
# shellcheck disable=SC2016
sandbox -- sh -c 'for name in asked asked asked askedx asked.txt dir/asked "asked;b" "asked
b" "asked " asked; do
    (echo x >>"$name") 2>/dev/null && echo "yes $name" || echo "no $name"; done'
sandbox_ran
equal "yes asked
yes asked
yes asked
no askedx
no asked.txt
no dir/asked
no asked;b
no asked
b
no asked 
yes asked" "$(cat "$T/stdout")" "what may be written"
equal 1 "$(grep -c '"answer": "allow"' "$T/answers")" "answers that allow"
equal 6 "$(grep -c '"answer": "deny"' "$T/answers")" "answers that deny"
equal "$WS/asked" "$(find "$WS" -name '*asked*')" "what is there"

cat >"$WS/connect.py" <<'END'
import socket, sys
for to in sys.argv[1:]:
    host, port = to.rsplit(":", 1)
    proxy = socket.create_connection(("127.0.0.1", int(__import__("os").environ["HTTP_PROXY"].rsplit(":", 1)[1].strip("/"))))
    proxy.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    print(proxy.recv(100).split(b" ")[1].decode(), flush=True)
END
hosts=()
for host in a.example b.example sub.a.example; do
    hosts+=(--set "sandbox.network.hosts.$host=127.0.0.1" --ask-host "$host:$one" --ask-host "$host:$two")
done
sandbox --net proxy "${hosts[@]}" -- python3 connect.py "a.example:$one" "a.example:$one" "a.example:$two" "b.example:$one" \
    "sub.a.example:$one" "a.example:$one"
sandbox_ran
equal "200 200 403 403 403 200" "$(tr '\n' ' ' <"$T/stdout" | sed 's/ $//')" "what may be reached"
equal "$one reached reached reached" "$(tr '\n' ' ' <"$T/one" | sed 's/ $//')" "what the one port saw"
equal "$two" "$(cat "$T/two")" "what the other port saw"
