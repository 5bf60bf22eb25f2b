# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# F-09 when the process that makes the calls is killed while one waits, that call is not made
# layers: notify asking
# not: nested, nobody outside can be asked
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/asked.bash"

asks asked.txt
answering <<<$'default: ask\nrules: []'
(
    wait_for 20 grep -q asked.txt "$T/answers" || sleep 3
    launcher=$("$BAWN" ps --json | grep -o '"pid": [0-9]*' | head -n1 | grep -o '[0-9]*')
    for pid in $(pgrep -P "$launcher"); do
        [[ $(<"/proc/$pid/comm") != 'bawn: calls' ]] || { kill -9 "$pid" && touch "$T/killed"; }
    done
) &
killer=$!
SANDBOX_SECONDS=20 sandbox -- sh -c 'echo x >asked.txt; echo went on'
wait "$killer"
is yes "$([[ -e $T/killed ]] && echo yes || echo no)" "the process was there to be killed"
equal no "$([[ -e $WS/asked.txt ]] && echo yes || echo no)" "made though nobody said yes"
