# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016,SC2154 # run sets output and status
# Ids of threads that come again while the supervisor remembers the last one.
load ../cli/common

setup() {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    # KERNEL(6.14): before, the limit is the whole machine's, and stays as it is here.
    printf '6.14\n%s\n' "$(uname -r)" | sort -CV || skip "the limit of ids is the machine's own"
    cli_setup
}

@test "ids: a thread with the id of the last caller is not taken for it" {
    cat >again.sh <<'END'
bad=0
for gap in $(seq 0 60); do
    (: >"$PWD/first")
    i=0
    while [ $i -lt "$gap" ]; do
        (:)
        i=$((i + 1))
    done
    (: >"$PWD/second") || bad=$((bad + 1))
    rm -f first second
done
echo "bad $bad"
END
    run unshare -pf --mount-proc sh -c '
        i=0
        while [ $i -lt 320 ]; do (:); i=$((i + 1)); done
        echo 330 >/proc/sys/kernel/pid_max
        exec "$0" run -- sh again.sh' "$BAWN"
    [ "$status" -eq 0 ]
    [[ $output == *"bad 0"* ]]
}
