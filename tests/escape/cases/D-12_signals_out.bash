# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-12 no signal, priority or limit reaches a process outside
# layers: pidns
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

sleep 120 &
sentinel=$!
alive() { kill -0 "$1" 2>/dev/null && [[ $(ps -o stat= -p "$1") != [TZ]* ]]; }

sandbox -- "$BIN/d_signals" reach "$sentinel"
sandbox_ran
for way in kill-0 kill-STOP kill-KILL kill-group tgkill tkill rt_sigqueueinfo rt_tgsigqueueinfo \
    pidfd_open F_SETOWN F_SETOWN-group F_SETOWN_EX prlimit setpriority sched_setaffinity \
    ioprio_set getpgid getsid; do
    answers <<<"ESRCH $way"
done
alive "$sentinel" || escaped "a process of the host was ended or stopped"

# The supervisor itself, by its real number.
sandbox -- sh -c 'echo >started; while [ ! -s number ]; do sleep 0.05; done
    exec "$0" reach "$(cat number)"' "$BIN/d_signals" &
outer=$!
wait_for 10 test -e started || broken "the sandbox did not start"
launcher=$(for pid in $(descendants "$outer"); do
    [[ $(cat "/proc/$pid/comm" 2>/dev/null) == bawn* ]] && echo "$pid" && break
done)
# The file is the host's to write: the command waits for it.
echo "${launcher:-$sentinel}" >number.new && mv number.new number
wait "$outer" || broken "the sandbox did not end well"
answers <<END
ESRCH kill-0
ESRCH kill-STOP
ESRCH kill-KILL
ESRCH prlimit
END

# Everybody that a program can see is nobody outside, and pid 1 goes on.
sandbox -- "$BIN/d_signals" all
equal 7 "$STATUS" "the status of a command that killed all that it saw"
alive "$sentinel" || escaped "kill(-1) ended a process of the host"

# A group that the launcher shares with others: no member of it may be reached.
(
    sleep 120 &
    echo $! >"$T/peer"
    exec "$BAWN" run -C "$WS" --ro "$BIN" -- "$BIN/d_signals" group
) >"$T/stdout" 2>"$T/stderr"
answers <<END
inside leader-of-group
inside leader-of-session
END
alive "$(cat "$T/peer")" || escaped "a process of the launcher's group was ended"
kill "$sentinel" "$(cat "$T/peer")" 2>/dev/null || true
