# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-21 the clock and the host's name cannot be set
# layers: seccomp
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

before=$(hostname)
sandbox -- "$BIN/d_calls"
sandbox_ran
for call in clock_settime settimeofday adjtimex clock_adjtime sethostname setdomainname; do
    answers <<<"EPERM $call"
done
answers <<<"ok clock_gettime"
equal "$before" "$(hostname)" "the host's name"
