# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For cases whose probe chooses its attempts itself: its lines are "VERDICT<TAB>WHAT".

# answers <<END: lines "VERDICT WHAT"; every answer that the last probe gave about WHAT is VERDICT.
answers() {
    local want what got

    while read -r want what; do
        [[ -z $want || $want == \#* ]] && continue
        got=$(awk -F'\t' -v what="$what" '$2 == what { print $1 }' "$T/stdout" | sort -u | tr '\n' '+')
        if [[ -z $got ]]; then
            broken "no answer about $what"
        else
            verdict "$want" "${got%+}" "$what"
        fi
    done
}

# beats FILE: whether what writes to FILE is still at it.
beats() {
    local before
    before=$(stat -c %s "$1" 2>/dev/null || echo 0)
    sleep 0.3
    [[ $(stat -c %s "$1" 2>/dev/null || echo 0) != "$before" ]]
}

# children PID: its descendants, one a line.
descendants() {
    local child
    for child in $(cat "/proc/$1"/task/*/children 2>/dev/null); do
        echo "$child"
        descendants "$child"
    done
}
