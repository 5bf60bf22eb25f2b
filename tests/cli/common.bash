# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# shellcheck shell=bash
# What every file of these tests starts with. $BAWN names the program.

bats_require_minimum_version 1.5.0

# A home and a project of the test's own: nothing of the host's matters.
cli_setup() {
    local name

    : "${BAWN:?names the bawn program}"
    BAWN=$(realpath -- "$BAWN")
    for name in "${!BAWN_@}" NO_COLOR COLUMNS TERM; do
        [[ $name == BAWN_TEST_DOCGEN ]] || unset "$name"
    done
    export HOME=$BATS_TEST_TMPDIR/home
    export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
    export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data
    export LC_ALL=C.UTF-8
    WORK=$BATS_TEST_TMPDIR/work
    mkdir -p "$HOME" "$XDG_CONFIG_HOME" "$WORK"
    WORK=$(realpath -- "$WORK")
    cd "$WORK" || return
}

# Runs a command where the user database says that $HOME is the caller's home: there plans are kept.
at_home() {
    local flags=(--mount --propagation private)

    if [[ ! -e $BATS_TEST_TMPDIR/passwd ]]; then
        printf 'me:x:%s:%s::%s:/bin/sh\n' "$(id -u)" "$(id -g)" "$HOME" >"$BATS_TEST_TMPDIR/passwd"
        sleep 0.05
    fi
    (($(id -u) == 0)) || flags+=(--user --map-current-user --keep-caps)
    unshare "${flags[@]}" python3 -c '
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(sys.argv[1].encode(), b"/etc/passwd", None, 4096, None):
    sys.exit("mount on /etc/passwd: " + os.strerror(ctypes.get_errno()))
libc.prctl(47, 4, 0, 0, 0)  # no ambient capability any more
os.execvp(sys.argv[2], sys.argv[2:])' "$BATS_TEST_TMPDIR/passwd" "$@"
}

# Every verb that can be run, one a line.
cli_verbs() {
    printf '%s\n' run shell ps status stop attach exec metrics check why plan detect doctor \
        'policy show' 'policy lint' 'policy import' 'policy export' 'policy approve' help
}

# Runs a command on a pseudo-terminal; what comes on standard input is typed.
on_terminal() {
    python3 -c '
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@"
}

# Whether the text is exactly one JSON document.
is_json() {
    python3 -m json.tool <<<"$1" >"$BATS_TEST_TMPDIR/json" || {
        printf 'not JSON: %s\n' "$1" >&2
        return 1
    }
}

# A value in a JSON document: json_get TEXT 'd["error"]["code"]'
json_get() {
    python3 -c 'import json, sys; d = json.loads(sys.argv[1]); print(eval(sys.argv[2]))' "$1" "$2"
}

# The last command's standard error has the form "bawn: what: why" and a hint.
has_error_and_hint() {
    grep -q '^bawn: .' <<<"$stderr" && grep -q '^hint: .' <<<"$stderr"
}
