# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-24 where the kernel refuses a fresh procfs, that around shows no process
# layers: launch
# no mutant: what is shown is a list of files; there is no layer to leave out
# not: nested, a user namespace more around it is one that this sandbox does not let be made
source "$ESCAPE/lib.bash"

# As in a container: parts of /proc are covered, and whoever comes later cannot uncover them.
covered() {
    # shellcheck disable=SC2016 # the words are the shell's inside
    unshare --user --map-root-user --mount --pid --fork --mount-proc sh -c '
        group=$1 && shift
        mount --bind /dev/null /proc/keys && mount --bind /dev/null /proc/timer_list &&
            exec unshare --user --map-user="$0" --map-group="$group" --mount env "$@"' "$(id -u)" "$(id -g)" \
        SECRET=of-outside "$@" >"$T/stdout" 2>"$T/stderr"
    STATUS=$?
}

covered "$BAWN" run -C "$WS" -- touch ran
sandbox_refused "refuses a /proc of the sandbox's own"

covered "$BAWN" plan -C "$WS"
CHECKED=$((CHECKED + 1))
grep -q "proc  .*a few files of the one around" "$T/stdout" || broken "plan: $(grep proc "$T/stdout")"

# shellcheck disable=SC2016
covered sh -c '
    sleep 54321 &
    "$0" run --best-effort -C "$1" --deny /proc/stat -- sh -c "
        find /proc -name \"[0-9]*\"; ls /proc | tr \"\n\" \" \"; echo
        cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr \"\0\" \" \" | grep -c \"54321\|of-outside\"
        grep -c MemTotal /proc/meminfo; cat /proc/stat /proc/self/status 2>/dev/null
        echo 1 2>/dev/null >/proc/sys/vm/overcommit_memory || echo refused"
    status=$?
    kill $!
    exit $status' "$BAWN" "$WS"
sandbox_ran
equal "cpuinfo devices filesystems meminfo swaps sys uptime version vmstat 0 1 refused" \
    "$(tr '\n' ' ' <"$T/stdout" | tr -s ' ' | sed 's/ $//')" "what is in /proc"
CHECKED=$((CHECKED + 1))
grep -q "not held here: /proc" "$T/stderr" || broken "nobody was told: $(cat "$T/stderr")"
