# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# F-03 without an answer it is no: nobody can be asked, the time runs out, who answers is killed
# layers: notify asking
# not: nested, nobody outside can be asked
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/asked.bash"

asks asked.txt
# Nobody is there.
sandbox -- sh -c 'echo x >asked.txt; exit 0'
sandbox_ran
equal no "$([[ -e $WS/asked.txt ]] && echo yes || echo no)" "written though nobody was asked"
# Somebody is there and says nothing, until the time is over.
answering <<<$'default: ask\nrules: []'
began=$SECONDS
sandbox --set sandbox.ask_timeout=3s -- sh -c 'echo x >asked.txt; exit 0'
sandbox_ran
((SECONDS - began >= 3)) || broken "nobody waited for an answer"
equal no "$([[ -e $WS/asked.txt ]] && echo yes || echo no)" "written though nobody answered"
# Somebody is there, and is killed while the command waits.
(sleep 3 && kill -9 "$ANSWERING") &
began=$SECONDS
sandbox -- sh -c 'echo x >asked.txt; exit 0'
sandbox_ran
((SECONDS - began >= 2 && SECONDS - began < 20)) || broken "it took $((SECONDS - began)) s"
equal no "$([[ -e $WS/asked.txt ]] && echo yes || echo no)" "written though who answers was killed"
