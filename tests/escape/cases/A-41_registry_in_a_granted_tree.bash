# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-41 the directory of sessions is closed inside, though it is made after the start and its tree is granted
# layers: mount
source "$ESCAPE/lib.bash"

tree=/tmp place=/tmp/bawn-$(id -u)
[[ $(id -u) -ne 0 ]] || tree=/run place=/run/bawn
for how in --ro --rw; do
    "$BAWN" run -C "$WS" "$how" "$tree" -- sh -c "echo >began; while [ ! -e seen ]; do sleep 0.1; done
        ls $place && cat $place/*/record.json && echo through" >"$T/said" 2>&1 &
    running=$!
    at_end "kill $running"
    wait_for 10 test -e "$WS/began" || broken "it did not start: $(cat "$T/said")"
    # The other side: it is found from outside, by its record.
    wait_for 10 sh -c "cat '$place'/*/record.json 2>/dev/null | grep -q '$WS'" || broken "there is no record"
    touch "$WS/seen"
    wait "$running"
    equal '' "$(grep -E 'through|"sid"' "$T/said")" "what it saw with $how"
    equal yes "$(grep -q 'Permission denied' "$T/said" && echo yes)" "it is refused with $how"
    rm -f "$WS/began" "$WS/seen"
    is '' "$(cat "$place"/*/record.json 2>/dev/null | grep "$WS")" "a record that is left"
done
