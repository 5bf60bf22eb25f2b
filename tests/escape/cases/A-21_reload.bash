# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-21 a policy that changes while the sandbox runs opens nothing in it
# layers: mount
source "$ESCAPE/lib.bash"

plant "$OUT/file"
plant "$WS/kept/secret" hunter2
printf 'sandbox: {deny: [kept]}\n' >"$T/policy.yaml"
before=$(witness "$OUT" "$WS/kept")
(SANDBOX_SECONDS=20 sandbox --policy "$T/policy.yaml" -- /bin/sh -c '
    echo >started
    for step in 1 2 3; do
        while [ ! -e "go$step" ]; do sleep 0.05; done
        printf "append %s\nread %s\nread %s\nsys creat s:%s 0644\n" "$1/file" "$1/file" kept/secret .bashrc | "$2"
        echo >"done$step"
    done' sh "$OUT" "$BIN/try") &
job=$!
wait_for 10 test -e "$WS/started" || broken "the sandbox did not start"
step=0
for text in "sandbox: {paths: {more: {root: $OUT, mode: rw}, kept: {root: $WS/kept, mode: rw}}}" \
    "sandbox: {deny: [kept]}" "sandbox: {nonsense"; do
    printf '%s\n' "$text" >"$T/policy.yaml"
    step=$((step + 1))
    touch "$WS/go$step"
    wait_for 5 test -e "$WS/done$step" || broken "step $step did not end"
done
wait "$job"
is 12 "$(wc -l <"$T/stdout")" "answers"
while IFS=$'\t' read -r got what; do
    case $what in
    *.bashrc*) verdict "EROFS|EACCES" "$got" "$what" ;;
    *kept*) verdict "EACCES|ENOENT" "$got" "$what" ;;
    *) verdict ENOENT "$got" "$what" ;;
    esac
done <"$T/stdout"
unchanged "$before" "$OUT" "$WS/kept"
