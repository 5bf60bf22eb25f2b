#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # run sets stderr
# A time namespace: clocks that count from the sandbox's start.

load common

setup() {
    sessions_setup
    cat >clocks.py <<'END'
import ctypes, os, time

class Info(ctypes.Structure):
    _fields_ = [("uptime", ctypes.c_long), ("rest", ctypes.c_char * 512)]

info = Info()
ctypes.CDLL(None).sysinfo(ctypes.byref(info))
tick = os.sysconf("SC_CLK_TCK")
starts = [int(open(f"/proc/{who}/stat").read().rpartition(")")[2].split()[19]) // tick for who in ("self", 1)]
print(int(time.clock_gettime(time.CLOCK_MONOTONIC)), int(time.clock_gettime(time.CLOCK_BOOTTIME)),
      int(float(open("/proc/uptime").read().split()[0])), info.uptime,
      *starts)
END
    read -r uptime _ </proc/uptime
    uptime=${uptime%.*}
    ((uptime > 300)) || skip "the host runs for less than five minutes"
}

teardown() {
    sessions_teardown
}

# Every number of the last output is within these.
all_within() {
    local number

    for number in $output; do
        ((number >= $1 && number <= $2)) || { echo "not within $1 and $2: $output"; return 1; }
    done
    [ "$(wc -w <<<"$output")" -eq 6 ]
}

has_time_ns() {
    "$BAWN" plan --own-time | grep -q '\[namespace\] sandbox.process.time_ns: true' ||
        skip "no time namespaces here"
}

@test "own time: every clock since boot begins at zero, with each way to make the sandbox" {
    local how

    has_time_ns
    for how in "" "--net host" "--net proxy" "--debug" "--map-root" "--allow-containers"; do
        # shellcheck disable=SC2086 # words of an option
        if [[ $how == --allow-containers ]] && ! "$BAWN" run $how -- true; then
            continue
        fi
        # The first proves it, the second has a plan that was kept.
        for _ in 1 2; do
            # shellcheck disable=SC2086 # words of an option
            run -0 "$BAWN" run --own-time $how -- python3 clocks.py
            all_within 0 100
        done
    done
    # Who does not ask for it has the host's.
    run -0 "$BAWN" run -- python3 clocks.py
    all_within $((uptime - 2)) $((uptime + 200))
    run -0 "$BAWN" run --own-time -- date +%s
    (($(date +%s) - output < 100))
}

@test "own time: the commands of exec have the same clocks, and it is another namespace" {
    local sid first pid

    has_time_ns
    sid=$("$BAWN" run --own-time --detach -- sh -c 'python3 clocks.py >first; exec sleep 1000')
    for _ in {1..200}; do
        [[ -s first ]] && break
        sleep 0.1
    done
    first=$(cut -d' ' -f1 first)
    run -0 "$BAWN" exec "$sid" -- python3 clocks.py
    all_within 0 200
    ((${output%% *} >= first))
    run -0 "$BAWN" exec "$sid" -- readlink /proc/self/ns/time
    [ "$output" != "$(readlink /proc/self/ns/time)" ]
    # Seen from outside, its times are the host's: what bawn says of the session is right.
    pid=$(json_get "$("$BAWN" status --json "$sid")" 'd["pid"]')
    if ((UID == 0)); then
        [ "$(readlink "/proc/$pid/ns/time")" = "$(readlink /proc/self/ns/time)" ]
    fi
    run -0 "$BAWN" ps
    [[ $output == *"$sid"* ]]
    run -0 "$BAWN" stop --timeout 0 "$sid"
}

@test "own time: a limit on time is as long as without" {
    local began

    has_time_ns
    began=$(date +%s%N)
    run -124 "$BAWN" run --own-time --timeout 2s -- sleep 1000
    (($(date +%s%N) - began >= 2000000000))
    began=$SECONDS
    run -124 "$BAWN" run --own-time --allow-containers --best-effort --timeout 1s -- \
        python3 -c 'import time; time.sleep(1000)'
    ((SECONDS - began < 60))
    run -0 "$BAWN" run --own-time --timeout 1h -- sleep 1
}

@test "own time: in another one the clocks begin anew, and offsets are no secret" {
    local outer=(unshare --user --map-current-user --time --monotonic 100000 --boottime 200000 --fork)

    has_time_ns
    "${outer[@]}" true || skip "no time namespace around bawn"
    # To others there the home is nobody's, and what cannot be recorded is said.
    run -0 --separate-stderr "${outer[@]}" "$BAWN" run -- python3 clocks.py
    all_within $((uptime + 99990)) $((uptime + 200200))
    run -0 --separate-stderr "${outer[@]}" "$BAWN" run --own-time -- python3 clocks.py
    all_within 0 100
    # As the manual says.
    run -0 "$BAWN" run --own-time -- cat /proc/self/timens_offsets
    [[ ${lines[0]} == monotonic*-* && ${lines[1]} == boottime*-* ]]
}

@test "own time: where the kernel refuses it nothing runs, or it is said" {
    # shellcheck disable=SC2016 # words of the shell inside
    local none=(unshare --user --map-current-user --keep-caps sh -c 'echo 0 >/proc/sys/user/max_time_namespaces &&
        exec setpriv --ambient-caps -all --inh-caps -all "$@"' sh)

    "${none[@]}" true || skip "no limit on time namespaces"
    run -125 --separate-stderr "${none[@]}" "$BAWN" run --own-time -- echo ran
    has_error_and_hint
    [[ -z $output && $stderr == *"sandbox.process.time_ns: true: no time namespace here (unshare: "* ]]
    run -0 --separate-stderr "${none[@]}" "$BAWN" run --own-time --best-effort -- echo ran
    [[ $output == ran && $stderr == *"sandbox.process.time_ns: true"* ]]
    run -0 "${none[@]}" "$BAWN" plan --own-time
    [[ $output == *"sandbox.process.time_ns: true"*"no time namespace here"* ]]
    run -0 --separate-stderr "${none[@]}" "$BAWN" run -- echo ran
    [ "$output" = ran ]
}

@test "own time: a project may ask for it, and not take it away" {
    has_time_ns
    mkdir -p .bawn "$XDG_CONFIG_HOME/bawn"
    echo 'sandbox: {process: {time_ns: true}}' >.bawn/policy.yaml
    run -0 "$BAWN" run -- python3 clocks.py
    all_within 0 100
    echo 'sandbox: {process: {time_ns: false}}' >.bawn/policy.yaml
    echo 'sandbox: {process: {time_ns: true}}' >"$XDG_CONFIG_HOME/bawn/policy.yaml"
    run -0 --separate-stderr "$BAWN" run -- python3 clocks.py
    all_within 0 100
}
