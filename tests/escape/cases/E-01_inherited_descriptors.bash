# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-01 no descriptor of the launcher's comes in but the three streams
# layers: fds
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

plant "$OUT/secret"

# held [-l] -- COMMAND...: as sandbox, with descriptors of every type open.
held() {
    timeout 20 "$BIN/e_hold" "$@" >"$T/stdout" 2>"$T/stderr"
    STATUS=$?
    if [[ ${BAWN_TEST_NESTED:-} && $STATUS -eq 125 ]] && grep -q '^bawn: ' "$T/stderr"; then
        CHECKED=1
        exit 0
    fi
}
run=("$BAWN" run -C "$WS" --ro "$BIN" --)

# At 3, 7 to 20, 1024 to 1041 and 2048 to 2065; then with the limit lowered below most of them.
held "$OUT" "${run[@]}" "$BIN/e_fds"
sandbox_ran
answers <<<"EBADF descriptors"
held -l "$OUT" "${run[@]}" "$BIN/e_fds"
sandbox_ran
answers <<<"EBADF descriptors"
held "$OUT" "${run[@]}" sh -c 'ls /proc/self/fd | wc -l'
sandbox_ran
# The three, and the directory that ls reads.
equal 4 "$(cat "$T/stdout")" "descriptors in /proc/self/fd"

# A directory as a stream leads out: it is refused, or leads nowhere.
# shellcheck disable=SC2016
look=(sh -c 'echo >ran; "$0" dir secret 3>&1 >answer' "$BIN/e_fds")
for stream in 0 1 2; do
    case $stream in
    0) timeout 20 "${run[@]}" "${look[@]}" <"$OUT" >"$T/stdout" 2>"$T/stderr" ;;
    1) timeout 20 "${run[@]}" "${look[@]}" 1<"$OUT" 2>"$T/stderr" ;;
    2) timeout 20 "${run[@]}" "${look[@]}" 2<"$OUT" >"$T/stdout" ;;
    esac
    STATUS=$?
    CHECKED=$((CHECKED + 1))
    if [[ $STATUS == 125 ]]; then
        [[ ! -e ran ]] || escaped "the command ran although it was refused"
    elif [[ ! -e answer ]]; then
        broken "no answer about stream $stream"
    else
        grep -q $'^ok\tstream-' answer && escaped "a directory as stream $stream leads out"
    fi
    rm -f ran answer
done
