# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-20 a sandbox in a sandbox is as strict, or refuses to start
# layers: launch
# no mutant: a sandbox around the one that is looked at holds what the inner one leaves out
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

# strict_or_refused WHERE: what the inner sandbox of the last run did.
strict_or_refused() {
    CHECKED=$((CHECKED + 1))
    if [[ $STATUS == 125 ]]; then
        grep -q '^bawn: ' "$T/stderr" || broken "$1: refused without a word"
        [[ ! -e $WS/ran ]] || escaped "$1: the command ran although it was refused"
        echo "# note: $1: refuses: $(head -n1 "$T/stderr")"
        return
    fi
    sandbox_ran
    answers <<END
0/1/2 task
END
    equal outside-no "$(tail -n1 "$T/stdout")" "$1: writing outside the inner workspace"
    rm -f "$WS/ran"
}
inner=(sh -c 'echo >ran; "$0/d_tasks"; echo >"$1/inner" && echo outside-yes || echo outside-no'
    "$BIN" "$OUT")
real=${BAWN_TEST_NESTED:-$BAWN}

# In one of our own, which may write more than the inner one.
timeout 25 "$BAWN" run -C "$WS" --ro "$BIN" --rw "$OUT" --ro "$(dirname "$real")" --ro "$ESCAPE" -- \
    "$real" run -C "$WS" --ro "$BIN" -- "${inner[@]}" >"$T/stdout" 2>"$T/stderr"
STATUS=$?
strict_or_refused "in a sandbox of ours"
# It has neither Landlock nor a listener: it says what the outer one lacks.
[[ $STATUS != 125 ]] || is 1 "$(grep -c 'start that one with --allow-containers' "$T/stderr")" \
    "the refusal names the outer sandbox's option"

# In one that lets containers run inside, it is to start. Nested itself, the outermost allows it.
timeout 25 "$BAWN" run --allow-containers -C "$WS" --ro "$BIN" --rw "$OUT" --ro "$(dirname "$real")" \
    --ro "$ESCAPE" -- "$real" run -C "$WS" --ro "$BIN" -- "${inner[@]}" >"$T/stdout" 2>"$T/stderr"
STATUS=$?
[[ $STATUS != 125 || ${BAWN_TEST_NESTED:-} ]] ||
    broken "with containers allowed it refuses: $(head -n1 "$T/stderr")"
strict_or_refused "in a sandbox of ours that allows containers"

# In one of another make that leaves user namespaces on.
if command -v bwrap >/dev/null && bwrap --unshare-all --ro-bind / / true 2>/dev/null; then
    timeout 25 bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev --bind "$T" "$T" -- \
        "$real" run -C "$WS" --ro "$BIN" -- "${inner[@]}" >"$T/stdout" 2>"$T/stderr"
    STATUS=$?
    strict_or_refused "in bubblewrap"
fi
