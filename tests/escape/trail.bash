# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The audit trail of a sandbox: what group L shares. $TRAIL and $HEAD are its files.

# recorded [OPTION]... -- COMMAND...: as sandbox.
recorded() {
    local id home

    sandbox --events 3 "$@" 3>"$T/events"
    id=$(sed -n '1s/.*"id": "\([^"]*\)".*/\1/p' "$T/events")
    home=$(getent passwd "$(id -u)" | cut -d: -f6)
    TRAILS=$home/.local/state/bawn/audit
    TRAIL=$TRAILS/$id.ndjson
    HEAD=$TRAILS/heads/$id
    TRAIL_ID=$id
    at_end "rm -f '$TRAIL' '$HEAD'"
}

# records EVENT: how many there are.
records() {
    grep -c "\"event\": \"$1\"" "$TRAIL"
}

# verified: the status of bawn audit --verify.
verified() {
    local status=0
    timeout 20 "$BAWN" audit --verify "$TRAIL_ID" >"$T/verified" 2>&1 || status=$?
    echo $status
}
