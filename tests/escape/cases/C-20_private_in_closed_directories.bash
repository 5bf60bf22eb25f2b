# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-20 what is private stays so in directories that an earlier command closed and a later one opens
# layers: mount
# not: nested, it is about a user of the host who has another group
source "$ESCAPE/lib.bash"

# Capabilities of the set-up do not reach a directory whose group it has no id for: one that the
# caller is in besides his own. Root makes himself such a caller; others have what they have.
other=$(id -G | awk '{ print $NF }')
if ((UID == 0)); then
    other=100
    real=$BAWN
    BAWN=$T/as-another
    printf '#!/bin/sh\nexec setpriv --reuid 1 --regid 1 --groups 1,100 %s "$@"\n' "$real" >"$BAWN"
    chmod 755 "$BAWN"
fi
cat >"$T/top.yaml" <<END
version: 1
sandbox:
  paths:
    top: {root: $WS/closed/p, mode: private}
    still: {root: $WS/open/p, mode: private}
END
cat >"$T/deep.yaml" <<END
version: 1
sandbox:
  paths:
    top: {root: $WS/closed/p, mode: private}
    deep: {root: $WS/above/closed/sub/p, mode: private}
    still: {root: $WS/open/p, mode: private}
  deny: [$WS/denied/d/secret]
  protect: [$WS/kept/d/file]
END
fill() {
    local dir
    chmod -R u+rwX "$WS"
    rm -rf "${WS:?}"/*
    for dir in closed/p above/closed/sub/p open/p denied/d; do
        plant "$WS/$dir/secret" secret-text
    done
    plant "$WS/kept/d/file" original
    plant "$WS/open/file" original
    ((UID != 0)) || chown -R 1:1 "$T"
    chown -R ":$other" "$WS"
}
# try_all: opens what was closed, and looks.
try_all() {
    attempts --policy "$T/top.yaml" <<END
any    sys chmod s:$WS/closed 0777
EACCES|ENOENT read $WS/closed/p/secret
ENOENT read $WS/open/p/secret
ok     append $WS/open/file
END
    sandbox -- /bin/sh -c "$close"
    attempts --policy "$T/deep.yaml" <<END
any    sys chmod s:$WS/closed 0777
any    sys chmod s:$WS/above 0777
any    sys chmod s:$WS/above/closed 0777
any    sys chmod s:$WS/denied 0777
any    sys chmod s:$WS/kept 0777
EACCES|ENOENT read $WS/closed/p/secret
EACCES|ENOENT read $WS/above/closed/sub/p/secret
EACCES|ENOENT read $WS/denied/d/secret
EACCES|EROFS|ENOENT append $WS/kept/d/file
ENOENT read $WS/open/p/secret
ok     read $WS/open/file original
ok     append $WS/open/file
END
}
close='chmod 000 closed above/closed denied kept'

# The plan is made when they are closed, and is kept from when they were open.
for first in closed open; do
    forget
    fill
    for policy in top deep; do
        [[ $first == closed ]] || { sandbox --policy "$T/$policy.yaml" -- true && sandbox_ran; }
    done
    sandbox -- /bin/sh -c "$close"
    is 0 "$(stat -c %a "$WS/above/closed")" "the mode of what was closed"
    before=$(witness "$WS/open/p")
    try_all
    unchanged "$before" "$WS/open/p"
    # Again, with whatever the command left.
    sandbox -- /bin/sh -c "$close"
    try_all
    chmod -R u+rwX "$WS"
    equal original "$(cat "$WS/kept/d/file")" "what is protected"
done
