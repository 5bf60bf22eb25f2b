#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bawn itself inside a sandbox.
# shellcheck disable=SC2030,SC2031 # run sets output and status

load common

setup() {
    cli_setup
}

@test "detect ends with 1 where nothing can start: inside a sandbox" {
    run --separate-stderr -1 "$BAWN" run --ro "${BAWN%/*}" -- "$BAWN" detect --json
    [ "$(json_get "$output" 'd["ok"], d["best"]')" = "(False, None)" ]
    [[ $(json_get "$output" 'd["backends"]["native"]["reason"]') == needs* ]]
    run --separate-stderr -1 "$BAWN" run --ro "${BAWN%/*}" -- "$BAWN" detect
    [[ $output == *"bawn would use: none, and refuse"* ]]
    run --separate-stderr -0 "$BAWN" run --ro "${BAWN%/*}" -- "$BAWN" plan --isolated
    [[ $output == *"'run' would refuse"* ]]
    # Nor does doctor promise a backend that bawn does not have.
    run --separate-stderr -1 "$BAWN" run --ro "${BAWN%/*}" -- "$BAWN" doctor
    [[ $output != *"would use"* && $output == *"bawn refuses to run commands"* ]]
}

# inside OUTER... -- QUESTION...: bawn check in a sandbox, by a policy that allows everything it can.
inside() {
    local outer=()

    while [[ $1 != -- ]]; do
        outer+=("$1")
        shift
    done
    shift
    run --separate-stderr "$BAWN" run -q --isolated "${outer[@]}" --ro "${BAWN%/*}" -- \
        "$BAWN" check --isolated --rw / --set "sandbox.reopen=/**/.envrc" --reads static --net host "$@"
}

# refused WHY: the last answer was no, and names the outer sandbox.
refused() {
    [ "$status" -eq 1 ] || { printf 'status %s: %s\n' "$status" "$output" >&2; return 1; }
    [[ $output == *": the outer sandbox $1." ]] || { printf '%s\n' "$output" >&2; return 1; }
}

@test "check answers no to what the sandbox that it runs in refuses" {
    mkdir sub
    echo >denied
    echo >kept
    inside -- read /srv/x
    refused "does not show it"
    inside -- exec /srv/x
    refused "does not show it"
    inside --deny denied -- read denied
    refused "denies it"
    inside --deny sub -- read sub
    refused "denies it"
    # What is below cannot even be looked at.
    inside --deny sub -- read sub/x
    [ "$status" -eq 1 ]
    inside --ro sub -- write sub/x
    refused "shows it read-only"
    inside -- write /usr/local/x --rw /usr/local
    refused "shows it read-only"
    inside --set sandbox.protect=kept -- write kept
    refused "protects it"
    # A name that is not there, and one that a further rule opens to the inner sandbox alone.
    inside --set sandbox.protect=later -- write later
    refused "protects it"
    inside -- write .envrc
    refused "protects it"
    inside -- connect example.org:443
    refused "has no way there"
    inside -- connect 198.51.100.1:443
    refused "has no way there"
    [ ! -e later ]
    [ ! -e .envrc ]
}

@test "check answers yes to what the sandbox that it runs in allows" {
    mkdir sub
    echo >file
    inside -- read file sub sub/absent /usr/bin/env /
    [ "$status" -eq 0 ]
    inside -- write file new sub/new /tmp/new "$PWD"
    [ "$status" -eq 0 ]
    inside -- exec /usr/bin/env
    [ "$status" -eq 0 ]
    inside -- connect 127.0.0.1:80 '[::1]:80' localhost:80
    [ "$status" -eq 0 ]
    [ ! -e new ]
    [ ! -e sub/new ]
    # Outside there is no outer sandbox.
    run -0 "$BAWN" check --isolated --rw / --reads static read /srv/x
    # A refusal of its own comes first.
    inside -- read /etc/shadow
    [ "$status" -eq 1 ]
    [[ $output == *"path is secret"* ]]
}

# A service listens below /opt; OUTER are the options of the sandbox in which bawn check is asked.
ask_of_service() {
    # shellcheck disable=SC2016 # the words are the shell's inside
    run unshare --mount --propagation private sh -ec '
        mount -t tmpfs none /opt
        exec python3 -c "
import os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(\"/opt/test.sock\")
os.chmod(\"/opt/test.sock\", 0o777)
server.listen()
sys.exit(os.spawnvp(os.P_WAIT, sys.argv[1], sys.argv[1:]))" \
            "$0" run -q --isolated --ro "${0%/*}" "$@" -- "$0" check --isolated \
            --set sandbox.network.unix_sockets=/opt/test.sock connect unix:/opt/test.sock' \
        "$BAWN" "$@"
}

@test "why names the outer sandbox, and services that it does not let be reached are named by check" {
    # Only root can put a socket into a place of services.
    if (($(id -u) == 0)); then
        ask_of_service
        refused "lets nobody connect to it"
        ask_of_service --set sandbox.network.unix_sockets=/opt/test.sock
        [ "$status" -eq 0 ]
    fi
    run --separate-stderr -1 "$BAWN" run -q --isolated --ro "${BAWN%/*}" -- \
        "$BAWN" why --isolated --ro / read /srv/x
    [[ $output == *"decided:   the outer sandbox does not show it"* ]]
    run --separate-stderr -1 "$BAWN" run -q --isolated --ro "${BAWN%/*}" -- \
        "$BAWN" why --isolated --net host connect example.org:1 --json
    [ "$(json_get "$output" 'd["verdict"], d["outer"]')" = "('deny', 'has no way there')" ]
}
