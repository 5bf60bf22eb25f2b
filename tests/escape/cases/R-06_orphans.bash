# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-06 ten thousand orphans are reaped, daemons end with the command
# layers: pidns+cgroup
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

sandbox -- "$BIN/r_orphans" reap 10000
sandbox_ran
answers <<END
10000 made
0 left
END
sandbox -- "$BIN/r_orphans" tree beat
sandbox_ran
is yes "$(test -s beat && echo yes)" "the daemons began"
silent beat "a daemon outlived its sandbox"
