# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-18 threads and children are confined as what made them
# layers: caps seccomp
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

sandbox -- "$BIN/d_tasks" threads
sandbox_ran
answers <<END
EPERM thread-unshare
0/1/2 pid1
0/1/2 task
END
is yes "$( (($(grep -c task "$T/stdout") >= 10)) && echo yes)" "all threads were seen"
