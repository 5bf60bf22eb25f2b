# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A terminal to look at: a pane of a tmux of the test's own.

panes_setup() {
    command -v tmux >/dev/null || skip "no tmux"
    PANES=$(mktemp -d /tmp/bawn-panes.XXXXXX)
}

tmux_at() {
    env -u TMUX tmux -S "$PANES/socket" -f /dev/null "$@"
}

panes_teardown() {
    [[ -n ${PANES-} ]] || return 0
    tmux_at kill-server 2>/dev/null || true
    rm -rf "$PANES"
}

# pane_start [COLUMNS [LINES]]: a shell, whose prompt is "$ ".
pane_start() {
    tmux_at new-session -d -x "${1-80}" -y "${2-24}" \
        "PS1='\$ ' TERM=screen-256color exec bash --norc --noprofile -i"
    pane_has '^\$'
}

# Keys by their names; and a line, typed as it is.
key() {
    tmux_at send-keys -- "$@"
}
keys() {
    tmux_at send-keys -l -- "$1"
    tmux_at send-keys Enter
}

pane_before() {
    tmux_at capture-pane -p
}
pane_colours() {
    tmux_at capture-pane -e -p
}

wait_for() {
    local _
    for _ in {1..300}; do
        ! "$@" || return 0
        sleep 0.1
    done
    printf 'not in time: %s\n' "$*" >&2
    return 1
}

# Whether a line matches, or does within half a minute; and whether none does.
pane_matches() {
    tmux_at capture-pane -p 2>/dev/null | grep -q -- "$1"
}
pane_has() {
    wait_for pane_matches "$1" || { pane_before >&2; return 1; }
}
pane_is_without() {
    ! pane_matches "$1"
}
pane_lacks() {
    wait_for pane_is_without "$1" || { pane_before >&2; return 1; }
}

# Waits for a question about what is given, on the screen.
asked() {
    pane_has 'bawn asks:' && pane_has "$1" || return
    sleep 0.8 # no key counts before
}
