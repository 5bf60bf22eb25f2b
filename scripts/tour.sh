#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/tour.sh BAWN: shows what bawn says about the current directory. Changes nothing, and ends
# with 0 whatever the answers are.
set -uo pipefail

bawn=${1:-build/bawn}
home=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
bold='' dim='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$'\033[1m' dim=$'\033[2m' plain=$'\033[0m'
fi

if [ ! -x "$bawn" ]; then
    echo "tour: $bawn: no such program" >&2
    echo "hint: run 'make', then scripts/tour.sh build/bawn" >&2
    exit 1
fi

title() {
    printf '\n%s== %s%s\n%s\n' "$bold" "$1" "$plain" "$2"
}

# The first lines of each block, and how many were left out. A final "and N more" is kept.
# shellcheck disable=SC2016 # for awk
cut_blocks='
    function flush() {
        if (left > 0 && last ~ /^  and /) {
            if (--left > 0) print "  ... " left " more lines"
            print last
        } else if (left > 0) {
            print "  ... " left " more lines"
        }
        left = 0
    }
    /^$/ { flush(); lines = 0; print; next }
    { if (++lines > 5) { left++; last = $0 } else print }
    END { flush() }'
# The verdict and one line for each finding.
cut_findings='NR <= 3 || /^\[/ || /checks passed/ { sub(/ passed:$/, " passed"); print }'
uncut='{ print }'

# run CUT ARGUMENT...: the command as one would type it, what the awk program CUT leaves of its
# output, and the exit status when it says something.
run() {
    local cut=$1 status
    shift
    # shellcheck disable=SC2088 # the tilde is shown, not expanded
    printf '\n%s$ bawn %s%s\n' "$bold" "${*//"$home"\//'~/'}" "$plain"
    # Standard error stays: whether somebody can be asked depends on its being a terminal.
    "$bawn" "$@" | awk "$cut"
    status=${PIPESTATUS[0]}
    case $status in
    0) ;;
    1) printf '%s(exit status 1)%s\n' "$dim" "$plain" ;;
    2) printf '%s(exit status 2: somebody would be asked)%s\n' "$dim" "$plain" ;;
    *) printf '%s(exit status %s: bawn failed)%s\n' "$dim" "$status" "$plain" ;;
    esac
}

printf '%sbawn %s: what a contained program may do here%s\n' "$bold" \
    "$("$bawn" --version | sed 's/^bawn //')" "$plain"
echo "This version answers questions and plans. It does not run programs yet."

title "1. The policy" \
    "What all layers come to, each value with the place it is from. Long blocks are cut here."
run "$cut_blocks" policy show --quiet

title "2. Answers" "A denial is worded for the program or the model that was refused."
run "$uncut" check --quiet read .
run "$uncut" check --quiet write ./x
run "$uncut" check --quiet read "$home/.ssh/id_rsa"
run "$uncut" check --quiet write .git/hooks/pre-commit
run "$uncut" check --quiet connect example.com:443

title "3. Why" "The rule that decided, where it stands, and what would change the answer."
run "$uncut" why --quiet write .git/hooks/pre-commit

title "4. The plan" \
    "What would be set up on this host for the policy, and who would hold each rule. Cut too."
run "$cut_blocks" plan --quiet

title "5. This host" "What is missing for full strength. 'bawn doctor' adds the remedies."
run "$cut_findings" doctor

printf '\nNext: README.md writes a first policy; bawn help VERB explains a verb.\n'
exit 0
