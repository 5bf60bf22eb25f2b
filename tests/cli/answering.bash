# SPDX-License-Identifier: Apache-2.0
# Somebody who answers questions by rules, until the test ends.

answering_teardown() {
    if [[ -n ${answerer-} ]] && kill "$answerer" 2>/dev/null; then
        wait "$answerer" || true
    fi
}

# answer DEFAULT RULE...: by these rules; each answer is a line of $BATS_TEST_TMPDIR/answers.
answer() {
    local rule
    {
        echo "default: $1"
        shift
        (($# > 0)) && echo rules: || echo 'rules: []'
        for rule; do echo "- $rule"; done
    } >"$BATS_TEST_TMPDIR/rules.yaml"
    "$BAWN" supervise --json --rules "$BATS_TEST_TMPDIR/rules.yaml" >"$BATS_TEST_TMPDIR/answers" 3>&- &
    answerer=$!
    sleep 1
}

# answers WORDS: how many answers have these words.
answers() {
    grep -c -- "$1" "$BATS_TEST_TMPDIR/answers" || true
}
