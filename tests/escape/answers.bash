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

# silent FILE WHAT: nobody writes to FILE any more.
silent() {
    CHECKED=$((CHECKED + 1))
    if beats "$1"; then escaped "$2"; fi
}

# gone PID...: no such process, or only what its parent has not looked at yet.
gone() {
    local pid
    CHECKED=$((CHECKED + 1))
    for pid; do
        [[ $(ps -o stat= -p "$pid") == [!Z]* ]] && escaped "process $pid lives: $(ps -o comm= -p "$pid")"
    done
    return 0
}

# descendants PID: its descendants, one a line.
descendants() {
    local child
    # shellcheck disable=SC2013 # words, not lines
    for child in $(cat "/proc/$1"/task/*/children 2>/dev/null); do
        echo "$child"
        descendants "$child"
    done
}
