# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-03 abstract sockets of the host are out of reach
# layers: netns landlock
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

name=bawn-escape-$$
"$BIN/e_listen" "@$name" "@$name.d:dgram" "@$name.s:seqpacket" >"$T/reached" &
listener=$!
wait_for 5 grep -q ready "$T/reached" || broken "no listener"

sandbox -- "$BIN/e_connect" "@$name" "@$name.d:dgram" "@$name.s:seqpacket"
sandbox_ran
answers <<END
ECONNREFUSED @$name
ECONNREFUSED @$name.d:dgram
ECONNREFUSED @$name.d:dgram-sendto
ECONNREFUSED @$name.s:seqpacket
END

# Without a network of its own, the scope holds.
sandbox --net host -- "$BIN/e_connect" "@$name" "@$name.d:dgram"
if ((STATUS == 125)); then
    echo "# note: --net host: $(head -n1 "$T/stderr")"
else
    sandbox_ran
    # Nested, the network around it is that of the outer one, which has no such names.
    want=${BAWN_TEST_NESTED:+ECONNREFUSED}
    answers <<END
${want:=EPERM} @$name
$want @$name.d:dgram
$want @$name.d:dgram-sendto
END
fi
equal ready "$(cat "$T/reached")" "what the host's sockets saw"
kill "$listener"

# Among themselves programs may use them.
# shellcheck disable=SC2016
sandbox -- sh -c '"$0/e_listen" @inner >seen & while ! grep -q ready seen; do sleep 0.05; done
    "$0/e_connect" @inner' "$BIN"
sandbox_ran
answers <<<"ok @inner"
