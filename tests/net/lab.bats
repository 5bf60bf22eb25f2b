# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016,SC2154 # run sets output and status; the words are the shell's inside
# The lab itself: what it gives, and that nothing of it stays.

setup() {
    [ "$(id -u)" -eq 0 ] || skip "only root can make a lab"
    lab=$BATS_TEST_DIRNAME/lab
}

# traces: what the machine has that a lab could leave.
traces() {
    grep -E '^lab |resolv|passwd' /proc/mounts || true
    ls -A /media /srv /mnt
    sha256sum /etc/resolv.conf /etc/passwd
}

# processes ID: how many there are of the lab that was started with this in LAB_TEST_ID.
processes() {
    grep -lsz "LAB_TEST_ID=$1" /proc/[0-9]*/environ | wc -l
}

@test "the command's status is the lab's" {
    run "$lab" -- sh -c 'exit 7'
    [ "$status" -eq 7 ]
    run "$lab" -- sh -c 'kill -9 $$'
    [ "$status" -eq 137 ]
    run "$lab" -- /does/not/exist
    [ "$status" -eq 125 ]
}

@test "every address is the lab's own, and its log tells who came" {
    run "$lab" -- sh -c 'curl -sS http://web.example/a http://203.0.113.99/b "http://[2001:db8::99]/c" &&
        curl -sS --cacert "$LAB_CA" https://web.example/d && sleep 0.2 && cat "$LAB_LOG"'
    [ "$status" -eq 0 ]
    [[ $output == *"lab /a"*"lab /b"*"lab /c"*"lab /d"* ]]
    [[ $output == *'"kind": "dns"'*'"name": "web.example"'* ]]
    [[ $output == *'"kind": "packet"'*'"address": "203.0.113.99"'* ]]
    [[ $output == *'"kind": "sni"'*'"sni": "web.example"'* ]]
}

@test "the command runs as the user who is named, without rights" {
    id bawn-test >/dev/null || skip "no user bawn-test"
    run "$lab" --user bawn-test -- sh -c 'id -un; grep CapEff /proc/self/status; touch "$LAB_WORK/file" && echo made'
    [ "$status" -eq 0 ]
    [[ $output == "bawn-test"*"0000000000000000"*"made" ]]
}

@test "names are answered where resolv.conf is a link that leads nowhere" {
    run unshare --mount --propagation private sh -c 'mount -t tmpfs none /srv && cp -a /etc /srv/ &&
        rm /srv/etc/resolv.conf && ln -s /run/nowhere/resolv.conf /srv/etc/resolv.conf &&
        mount --bind /srv/etc /etc && exec "$@"' sh "$lab" -- curl -sS http://web.example/here
    [ "$status" -eq 0 ]
    [ "$output" = "lab /here" ]
}

@test "nothing stays when it ends, is ended or is killed" {
    local before id how pid
    before=$(traces)
    "$lab" -- true
    [ "$(traces)" = "$before" ]
    for how in TERM INT KILL; do
        id=$how-$BASHPID
        LAB_TEST_ID=$id "$lab" -- sh -c 'sleep 100 & setsid sleep 100 & touch "$LAB_WORK/file"; wait' 3>&- &
        pid=$!
        for _ in {1..100}; do
            [ "$(processes "$id")" -ge 4 ] && break
            sleep 0.05
        done
        [ "$(processes "$id")" -ge 4 ]
        kill -"$how" "$pid"
        wait "$pid" || true
        for _ in {1..50}; do
            [ "$(processes "$id")" -eq 0 ] && break
            sleep 0.05
        done
        [ "$(processes "$id")" -eq 0 ]
        [ "$(traces)" = "$before" ]
    done
}
