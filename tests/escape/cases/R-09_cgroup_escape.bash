# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-09 the cgroup cannot be left or changed
# layers: seccomp+caps
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

attempts <<END
ENOENT sys open s:/sys/fs/cgroup/cgroup.procs O_WRONLY
ENOENT sys open s:/sys/fs/cgroup/pids/cgroup.procs O_WRONLY
ENOENT sys open s:/sys/fs/cgroup/memory/release_agent O_WRONLY
ENOENT sys open s:/sys/fs/cgroup/unified/cgroup.procs O_WRONLY
EPERM sys mount s:none s:/tmp s:cgroup2 0 0
EPERM sys mount s:none s:/tmp s:cgroup 0 s:pids
END
sandbox -- sh -c 'find / -xdev -name "cgroup.*" -writable 2>/dev/null; find /sys -name "cgroup.procs" 2>/dev/null
    sed "s/.*://" /proc/self/cgroup | sort -u'
sandbox_ran
equal / "$(cat "$T/stdout")" "cgroup files that are there, and the own group's name"
