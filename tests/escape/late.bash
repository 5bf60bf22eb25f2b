# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For cases about what is made outside while a command runs inside.

# begin [OPTION]...: a sandbox that runs, and answers until 'over'.
begin() {
    rm -f "$T/ask"
    mkfifo "$T/ask"
    : >"$T/stdout"
    ANSWERS=0
    sandbox "$@" -- "$BIN/try" <"$T/ask" &
    RUNNING=$!
    exec 7>"$T/ask"
    ask ok "read /proc/self/stat" # it is there
}

# ask VERDICT ATTEMPT: of the sandbox that runs.
ask() {
    local got rest i

    printf '%s\n' "$2" >&7
    ANSWERS=$((ANSWERS + 1))
    for ((i = 0; i < 500; i++)); do
        (($(wc -l <"$T/stdout") >= ANSWERS)) && break
        sleep 0.02
    done
    IFS=$'\t' read -r got rest < <(sed -n "${ANSWERS}p" "$T/stdout")
    [[ ${rest:-} == "$2" ]] || broken "no answer to: $2: $(tail -n2 "$T/stderr" | tr '\n' ' ')"
    verdict "$1" "${got:-nothing}" "$2"
}

# soon: longer than it takes until what appeared is masked.
soon() {
    sleep 0.3
}

# over: the sandbox ends, and well.
over() {
    exec 7>&-
    wait "$RUNNING"
    [[ ! -s $T/stderr ]] || broken "it said: $(head -n3 "$T/stderr" | tr '\n' ' ')"
}
