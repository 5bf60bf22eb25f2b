# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-33 a plan that is kept does not outlive what it was made from: the caller's groups
# layers: mount
# only: root
# when: getent group shadow >/dev/null
# not: nested, ids of the host are needed
source "$ESCAPE/lib.bash"

id bawn-test >/dev/null 2>&1 || skip "no user bawn-test"
chown -R bawn-test "$WS" "$HOME" "$XDG_CACHE_HOME" "$XDG_STATE_HOME"
chmod 755 "$T" "$BIN" "$WS" "$HOME" "$T/xdg"
gid=$(id -g bawn-test) shadow=$(getent group shadow | cut -d: -f3)
# as GROUPS: what the command reads of /etc/shadow.
as() {
    STATUS=0
    setpriv --reuid bawn-test --regid "$gid" "$@" -- "$BAWN" run -C "$WS" --ro "$BIN" -- \
        "$BIN/try" <<<"read /etc/shadow" >"$T/stdout" 2>"$T/stderr" || STATUS=$?
    sandbox_ran
    cut -f1 "$T/stdout"
}
is ok "$(setpriv --reuid bawn-test --regid "$gid" --groups "$shadow" -- head -c1 /etc/shadow \
    >/dev/null && echo ok)" "the group reads it outside"
equal EACCES "$(as --clear-groups)" "without the group"
equal EACCES "$(as --clear-groups)" "with the plan that was kept"
equal EACCES "$(as --groups "$shadow")" "with the group"
equal EACCES "$(as --clear-groups)" "without the group again"
