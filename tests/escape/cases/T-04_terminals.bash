# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# T-04 the host's terminals cannot be opened; one of its own can
# layers: launch
# no mutant: terminals of its own are a part of the new root; those of the host are never there to be left in
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

# A terminal of the host's that is there meanwhile.
timeout 25 "$BIN/t_host" "$T/screen" sh -c 'tty; sleep 20' >/dev/null &
holder=$!
wait_for 5 grep -q pts "$T/screen" || broken "no terminal"
number=$(tr -d '\r' <"$T/screen" | sed -n 's|/dev/pts/||p')

# The launcher has a controlling terminal, the command none of its streams on one.
timeout 20 "$BIN/t_host" "$T/screen2" sh -c 'exec "$@" <&- >answer 2>errors </dev/null' sh \
    "$BAWN" run -C "$WS" --ro "$BIN" -- "$BIN/t_tty" reach "$number" $((number + 1)) >"$T/report"
cp answer "$T/stdout"
if [[ ${BAWN_TEST_NESTED:-} ]] && grep -q '^exit 125' "$T/report"; then
    CHECKED=1
    exit 0
fi
is "exit 0" "$(grep exit "$T/report")" "the command ran ($(head -n1 errors))"
answers <<END
ENXIO dev-tty
ENOENT dev-console
ENOENT dev-tty0
ENOENT pts-$number
ENOENT pts-$((number + 1))
ok own-master
ok own-unlock
/dev/pts/0 own-name
ok own-slave
none stdin-name
END

# On a terminal: it is the sandbox's own, number 0 of its own instance.
timeout 20 "$BIN/t_host" "$T/screen2" "$BAWN" run -C "$WS" --ro "$BIN" -- \
    "$BIN/t_tty" reach "$number" $((number + 1)) >"$T/report"
tr -d '\r' <"$T/screen2" >"$T/stdout"
answers <<END
ok dev-tty
/dev/pts/0 stdin-name
ENOENT pts-$((number + 1))
END
kill "$holder" 2>/dev/null || true
