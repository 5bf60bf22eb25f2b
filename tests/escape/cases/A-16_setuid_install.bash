# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-16 a bawn with rights that its caller has not does not start
# layers: launch
# no mutant: it is refused before there is any layer
# only: root
source "$ESCAPE/lib.bash"

mkdir -m 755 "$T/installed"
cp -L "$(dirname "$BAWN")"/bawn* "$T/installed/" 2>/dev/null
cp -L "$BAWN" "$T/installed/bawn"
run_installed() {
    rm -f "$WS/ran"
    STATUS=0
    chmod 777 "$WS" "$T"
    setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$OUT" \
        "$T/installed/bawn" run -C "$WS" -- touch ran >"$T/stdout" 2>"$T/stderr" || STATUS=$?
}
for mode in 4755 2755 6755; do
    chown 0:0 "$T/installed/bawn"
    chmod "$mode" "$T/installed/bawn"
    run_installed
    sandbox_refused
done
chmod 755 "$T/installed/bawn"
if setcap cap_sys_admin+ep "$T/installed/bawn" 2>/dev/null; then
    run_installed
    sandbox_refused
    setcap -r "$T/installed/bawn"
fi
run_installed
is 0 "$STATUS" "status of an ordinary install"
