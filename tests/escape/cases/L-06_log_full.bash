# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# L-06 where a trail is required and cannot be written nothing runs, and what runs is ended
# layers: launch
# no mutant: the launcher itself ends the command, and no layer does
# not: nested, the trail is in the home of the sandbox around, and gone with it
source "$ESCAPE/lib.bash"
source "$ESCAPE/trail.bash"

flood='i=0; while [ $i -lt 60 ]; do echo >"/usr/$i-'$(printf 'x%.0s' {1..200})'"; i=$((i + 1)); done 2>&-
sleep 1; touch ran; exit 0'
# limited BLOCKS AUDIT COMMAND...: files can have no more KiB. A plan that is not kept is such a file, too:
# then once more.
limited() {
    local blocks=$1 audit=$2
    shift 2
    for _ in {1..50}; do
        sandbox --set "audit=$audit" -- true
        sandbox_ran
        STATUS=0
        (ulimit -f "$blocks"; exec timeout -k 2 25 "$BAWN" run -C "$WS" --ro "$BIN" --set "audit=$audit" -- "$@") 2>&1 </dev/null |
            cat >"$T/stderr"
        STATUS=${PIPESTATUS[0]}
        grep -q 'compiled plan' "$T/stderr" || break
        sleep 0.1
    done
}
limited 8 required sh -c "$flood"
sandbox_refused "the audit trail cannot be written: File too large"
limited 0 required touch ran
sandbox_refused "the audit trail cannot be written: File too large"
# Not required: the command goes on, and bawn says what is missing.
limited 8 on sh -c "$flood"
is 0 "$STATUS" "without 'required' the command ends as it does"
is yes "$([[ -e $WS/ran ]] && echo yes)" "without 'required' it ran"
is 1 "$(grep -c 'the audit trail cannot be written: File too large' "$T/stderr")" "it is said once"
