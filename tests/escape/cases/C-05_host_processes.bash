# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-05 only the sandbox's own processes are seen
# layers: pidns
source "$ESCAPE/lib.bash"

sleep 54321 &
host=$!
at_end "kill $host"
# Not in the number space of the sandbox, unless it is that of the host.
sandbox -- /bin/sh -c '
    echo "count $(ls -d /proc/[0-9]* | wc -l)"
    cat /proc/[0-9]*/cmdline | tr "\0" " " | grep -c "sleep 5432[1]"
    echo "self $(readlink /proc/self)"'
sandbox_ran
count=$(sed -n 's/^count //p' "$T/stdout")
((count >= 2 && count <= 8)) || escaped "$count processes are seen"
equal 0 "$(sed -n 2p "$T/stdout")" "command lines of the host"
((host > 100)) || skip "the pids of this host are too small to tell"
attempts <<END
ENOENT stat /proc/$host
ENOENT read /proc/$host/cmdline
ENOENT stat /proc/$$/status
ESRCH  sys kill $host 0
ESRCH  sys pidfd_open $host 0
ESRCH  sys tgkill $host $host 0
ESRCH  sys getpgid $host
ESRCH  sys getsid $host
ESRCH|EPERM sys sched_getaffinity $host 128 buf
ESRCH  sys prlimit64 $host 7 null buf
ESRCH  sys getpriority 0 $host
ok     sys kill 1 0
ok     stat /proc/self
END
# What the launcher was told is not for the command: names of what is hidden, values of variables.
sandbox --deny "$OUT/hidden-name" --set sandbox.process.env.set.A=hidden-value -- /bin/sh -c '
    tr "\0" " " </proc/1/cmdline | grep -c hidden; cat /proc/1/comm; echo "$A"'
sandbox_ran
equal "0 bawn hidden-value" "$(tr '\n' ' ' <"$T/stdout" | sed 's/ $//')" "the command line of pid 1"
kill -0 "$host" || escaped "the host's process is gone"
