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

# Runs a command where the user database says that $BATS_TEST_TMPDIR/home is root's home: there plans
# are kept. Only root can have that: to others in a user namespace of their own, the directories
# above a home belong to nobody they know, and no plan is kept.
at_home() {
    HOME=$BATS_TEST_TMPDIR/home
    mkdir -p "$HOME"
    if [[ ! -e $BATS_TEST_TMPDIR/passwd ]]; then
        printf 'root:x:0:0::%s:/bin/sh\n' "$HOME" >"$BATS_TEST_TMPDIR/passwd"
        sleep 0.05
    fi
    # shellcheck disable=SC2016 # the words are the shell's inside
    unshare --mount --propagation private sh -c \
        'mount --bind "$0" /etc/passwd && exec "$@"' "$BATS_TEST_TMPDIR/passwd" "$@"
}

# Removes what is kept of this test's detached sessions, which are found by their workspace.
forget_kept() {
    local one

    for one in "$(getent passwd "$(id -u)" | cut -d: -f6)"/.local/state/bawn/sessions/??????; do
        if grep -qs -F "\"workspace\": \"$WORK\"" "$one/record.json"; then
            rm -r "$one"
        fi
    done
}

# Removes what this test's overlays have left, which is found by its workspace. A set-up that failed
# has none, and then all layers of this user would match: those of people and of other tests.
forget_changes() {
    local one

    [[ ${1:-$WORK} == /?* ]] || return 0
    for one in "$(getent passwd "$(id -u)" | cut -d: -f6)"/.local/state/bawn/changes/*; do
        if [[ $(cat "$one/workspace" 2>/dev/null) == "${1:-$WORK}"* ]]; then
            chmod -R u+rwx "$one"
            rm -r "$one"
        fi
    done
}

# Removes the audit trails of this test, which are found by their workspace.
forget_trails() {
    local one trails

    trails=$(getent passwd "$(id -u)" | cut -d: -f6)/.local/state/bawn/audit
    grep -ls -F "\"workspace\": \"$WORK\"" "$trails"/*.ndjson | while read -r one; do
        rm -f "$one" "$trails/heads/$(basename "$one" .ndjson)"
    done
}

# A place of the test's own for sessions; short, for it is typed into addresses of sockets elsewhere. The
# plan is made once, so that no test waits for it.
sessions_setup() {
    cli_setup
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
    XDG_RUNTIME_DIR=$(mktemp -d /tmp/bawn-session.XXXXXX)
    export XDG_RUNTIME_DIR
    chmod 700 "$XDG_RUNTIME_DIR"
    "$BAWN" run -- true
}

# Ends them all. What one leaves behind is found here, in every test.
sessions_teardown() {
    local sid

    for sid in $("$BAWN" ps --json | python3 -c '
import json, sys
for one in json.load(sys.stdin)["sessions"]: print(one["sid"])'); do
        "$BAWN" stop --timeout 0 "$sid" >/dev/null
    done
    forget_kept
    rmdir "$XDG_RUNTIME_DIR" || { rm -rf "$XDG_RUNTIME_DIR"; return 1; }
}

# Every verb that can be run, one a line.
cli_verbs() {
    printf '%s\n' run shell ps status stop attach logs audit wait approve supervise exec metrics check why plan \
        diff apply discard undo rm gc detect doctor 'policy show' 'policy lint' 'policy import' 'policy export' 'policy approve' 'policy save' 'policy forget' learn \
        'gen nft' 'gen iptables' 'gen iptables-cleanup' 'gen pf' help
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
