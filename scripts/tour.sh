#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/tour.sh BAWN: runs a command inside, in the current directory, and shows what it could do,
# what it could not, and why. Leaves nothing behind.
set -uo pipefail

bawn=${1:-build/bawn}
bold='' good='' bad='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$'\033[1m' good=$'\033[32m' bad=$'\033[31m' plain=$'\033[0m'
fi

if [ ! -x "$bawn" ]; then
    echo "tour: $bawn: no such program" >&2
    echo "hint: run 'make', then scripts/tour.sh build/bawn" >&2
    exit 1
fi

# What is tried, inside: a line each, "could" or "could not", what, and how the kernel said no.
# shellcheck disable=SC2016 # expanded by the shell inside
attempts='
try() {
    what=$1
    shift
    said=$("$@" 2>&1 >/dev/null) && printf "could|%s|\n" "$what" ||
        printf "could not|%s|%s\n" "$what" "${said##*: }"
}
file=.bawn-tour.$$
try "write a file in this directory" sh -c "echo hello >$file"
try "read it, run programs, remove it" sh -c "cat $file && uname && rm $file"
try "use a /tmp of its own" sh -c "echo x >/tmp/x && rm /tmp/x"
try "look into your home directory" ls "$HOME/.ssh"
try "change the system" sh -c "echo x >/usr/bawn-tour"
try "plant a git hook" mkdir -p .git/hooks/bawn-tour
try "become root" sh -c "unshare -r true"
try "see other processes" sh -c "[ \$(ls -d /proc/[0-9]* | wc -l) -gt 20 ] || { echo only its own >&2; false; }"
try "reach a network" sh -c "grep -v -e lo: -e face -e Inter /proc/net/dev || { echo there is none >&2; false; }"
'

printf '%s$ bawn run -- sh -c "..."%s      in %s\n' "$bold" "$plain" "$PWD"
"$bawn" run --quiet -- sh -c "$attempts" | while IFS='|' read -r verdict what said; do
    colour=$good
    [ "$verdict" = could ] || colour=$bad
    printf '  %s%-9s%s %s%s\n' "$colour" "$verdict" "$plain" "$what" "${said:+: $said}"
done
status=${PIPESTATUS[0]}
if [ "$status" -eq 125 ]; then
    printf "\nThis host cannot run sandboxes as it is: 'bawn doctor' says what to do.\n"
    exit "$status"
fi
printf '%s$ bawn why write .git/hooks/pre-commit%s\n' "$bold" "$plain"
"$bawn" why --quiet write .git/hooks/pre-commit | sed -n 's/^/  /; 1,3p'
printf "Next: bawn shell, bawn plan, and README.md for a policy of your own.\n"
exit 0
